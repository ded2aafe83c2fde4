/**
 * Templates in task texts: `{name}` stands for an input, `{{name}}` is the literal text `{name}`. Values are
 * inserted unchanged and are not expanded again. `TEMPLATE_VARIABLE` defines which texts are names.
 */
import { TEMPLATE_VARIABLE } from '@tutti/protocol/internal'

/** Values of template variables by name. */
export type Inputs = Readonly<Record<string, string>>

/** Returns the names of the variables in `text`, each once, in order of appearance. */
export function findTemplateVariables(text: string): readonly string[] {
  if (!text.includes('{')) return NO_NAMES
  const names = new Set<string>()
  for (const [, , name] of text.matchAll(TEMPLATE_VARIABLE)) {
    if (name !== undefined) names.add(name)
  }
  return [...names]
}

const NO_NAMES: readonly string[] = []

/** Returns `text` with its variables replaced; a variable without a value is left unchanged. */
export function renderTemplate(text: string, inputs: Inputs): string {
  if (!text.includes('{')) return text
  return text.replaceAll(TEMPLATE_VARIABLE, (whole: string, literal?: string, name?: string) => {
    if (literal !== undefined) return `{${literal}}`
    return name !== undefined && Object.hasOwn(inputs, name) ? (inputs[name] ?? whole) : whole
  })
}

/** Returns `text` in which the variables that `isFilledLater` names are literals, so that rendering leaves them unchanged. */
export function escapeVariables(text: string, isFilledLater: (name: string) => boolean): string {
  return text.replaceAll(TEMPLATE_VARIABLE, (whole: string, _: string | undefined, name?: string) =>
    name !== undefined && isFilledLater(name) ? `{${whole}}` : whole,
  )
}

/** Size of a template without its inputs, and the number of uses of each input. */
export interface TemplateSize {
  /** Number of bytes in UTF-8 that do not depend on inputs. */
  readonly literalBytes: number
  readonly uses: ReadonlyMap<string, number>
}

/** Measures `text` as a template, independently of the inputs. */
export function measureTemplate(text: string): TemplateSize {
  let literalBytes = countUtf8Bytes(text)
  const uses = new Map<string, number>()
  if (!text.includes('{')) return { literalBytes, uses }
  for (const [whole, literal, name] of text.matchAll(TEMPLATE_VARIABLE)) {
    if (literal !== undefined) literalBytes -= 2
    if (name === undefined) continue
    literalBytes -= countUtf8Bytes(whole)
    uses.set(name, (uses.get(name) ?? 0) + 1)
  }
  return { literalBytes, uses }
}

/** Counts the bytes of `text` in UTF-8 without encoding it. */
export function countUtf8Bytes(text: string): number {
  let bytes = text.length
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    // A surrogate pair has four bytes for its two units.
    const isSurrogate = unit >= 0xd8_00 && unit <= 0xdf_ff
    bytes += unit < 0x8_00 || isSurrogate ? 1 : 2
  }
  return bytes
}
