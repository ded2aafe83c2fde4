/** Task or tool that an ensemble shares with its peers. */
import Type from 'typebox'

import type { Static } from '../static.ts'

/** Kind of a shared capability. */
export const CapabilityType = Type.Enum(['TASK', 'TOOL'])
export type CapabilityType = Static<typeof CapabilityType>

/** Task or tool that an ensemble shares with its peers. */
export const SharedCapability = Type.Object({
  name: Type.String(),
  description: Type.String(),
  type: CapabilityType,
  /** Tags by which a `capability_query` finds it. */
  tags: Type.Optional(Type.Array(Type.String())),
})
export type SharedCapability = Static<typeof SharedCapability>
