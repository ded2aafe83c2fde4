/**
 * Grammar of templates in task texts: `{name}` stands for an input, and `{{name}}` is the literal text `{name}`. A name has
 * letters and digits of any script, `_`, `-` and `.`; it begins and ends with a letter, a digit or `_`. Any other text in
 * braces, such as JSON, is not a variable.
 */
const NAME = String.raw`[\p{L}\p{N}_](?:[\p{L}\p{M}\p{N}_.-]*[\p{L}\p{M}\p{N}_])?`

/** Matches a literal, whose name is the first group, or a variable, whose name is the second group. */
export const TEMPLATE_VARIABLE = new RegExp(String.raw`\{\{(${NAME})\}\}|\{(${NAME})\}`, 'gu')

const WHOLE_NAME = new RegExp(`^${NAME}$`, 'u')

/** Whether a template can name an input of this name. */
export function isTemplateName(name: string): boolean {
  return WHOLE_NAME.test(name)
}
