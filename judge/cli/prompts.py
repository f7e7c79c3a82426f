"""`judge prompts`: what the judge can be asked."""

from __future__ import annotations

import click


@click.command(name="prompts")
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """List the shipped prompts, or show one.

    NAME is `relevance@1`, `relevance` for its newest version, or a file of your own, which is
    checked. Every paid judgment is filed under the sha256 of the prompt it was given under.

    \b
    Examples:
      judge prompts
      judge prompts relevance@2
      judge prompts my-prompt.md
    """
    from judge.judging.prompt import default_prompt, load_prompt, shipped_prompts

    if name is None:
        for label, digest in shipped_prompts().items():
            note = "  (default)" if label == default_prompt() else ""
            click.echo(f"{label}  sha256 {digest[:12]}{note}")
        click.echo("Show one: judge prompts NAME. Use one: judge grade … --prompt NAME|FILE")
        return 0
    prompt = load_prompt(name)
    fields = ", ".join(f"{field} ({kind})" for field, kind in prompt.reply)
    click.echo(f"{prompt.label}  sha256 {prompt.sha256}")
    click.echo(f"grades 0..{prompt.grade_max} in field {prompt.field!r}; reply: {fields}")
    if prompt.system:
        click.echo(f"\n# system\n{prompt.system}")
    click.echo(f"\n# user\n{prompt.user}")
    return 0
