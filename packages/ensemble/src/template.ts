/**
 * Templates in task texts: `{name}` stands for an input, `{{name}}` is the literal text `{name}`.
 * Values are put in as they are and never expanded again.
 */

/** Values of template variables by name. */
export type Inputs = Readonly<Record<string, string>>

const VARIABLE = /\{\{(\w+)\}\}|\{(\w+)\}/g

/** The names of the variables in `text`, each once, in order of appearance. */
export function templateVariables(text: string): readonly string[] {
  if (!text.includes('{')) return NO_NAMES
  const names = new Set<string>()
  for (const [, , name] of text.matchAll(VARIABLE)) {
    if (name !== undefined) names.add(name)
  }
  return [...names]
}

const NO_NAMES: readonly string[] = []

/** `text` with its variables replaced; a variable without a value stays as it is. */
export function renderTemplate(text: string, inputs: Inputs): string {
  if (!text.includes('{')) return text
  return text.replaceAll(VARIABLE, (whole: string, literal?: string, name?: string) => {
    if (literal !== undefined) return `{${literal}}`
    return name !== undefined && Object.hasOwn(inputs, name) ? (inputs[name] ?? whole) : whole
  })
}
