/**
 * The parts of TypeBox's schema engine that others of our packages use. They come from here so that
 * there is one copy of it, which this package's build takes in.
 */
import { Resolve, type XStack } from 'typebox/schema'

export { Check as interpretedCheck, NextStack, Stack, type XStack } from 'typebox/schema'

/**
 * What the text of a `$ref` means, seen from a place in a document, and the place that it leads to.
 *
 * @throws when it is not even the text of a reference.
 */
export function referenceFrom(stack: XStack, reference: string): ReturnType<typeof Resolve.Ref> {
  return Resolve.Ref(stack, { $ref: reference })
}
