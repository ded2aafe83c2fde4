/** A task or tool that an ensemble shares with its peers, as the WebSocket side announces it. */
import Type from 'typebox'

/** TASK or TOOL. AgentEnsemble wire. */
export const CapabilityType = Type.Enum(['TASK', 'TOOL'])
export type CapabilityType = Type.Static<typeof CapabilityType>

/** One shared capability, in `hello`, `capability_response` and the server status. AgentEnsemble wire. */
export const SharedCapability = Type.Object({
  name: Type.String(),
  description: Type.String(),
  type: CapabilityType,
  tags: Type.Optional(Type.Array(Type.String())),
})
export type SharedCapability = Type.Static<typeof SharedCapability>
