/**
 * Parts of TypeBox's schema engine that other packages of Tutti use. They are exported from here so that there is only one
 * copy, which is bundled into this package.
 */
import { Resolve, type XStack } from 'typebox/schema'

export { Check as interpretedCheck, NextStack, Stack, type XStack } from 'typebox/schema'

/**
 * Resolves a `$ref` from a place in a document.
 *
 * @throws when the text is not a valid reference.
 */
export function referenceFrom(stack: XStack, reference: string): ReturnType<typeof Resolve.Ref> {
  return Resolve.Ref(stack, { $ref: reference })
}
