/**
 * The parts of TypeBox's schema engine that others of our packages use. They come from here so that
 * there is one copy of it, which this package's build takes in.
 */
export { Check as interpretedCheck, NextStack, Resolve, Stack, type XStack } from 'typebox/schema'
