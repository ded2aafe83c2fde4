/** Part of a message or of an output, as in A2A 1.0. */
import Type from 'typebox'
import { JsonObject } from './scalars.ts'

import type { Static } from '../static.ts'

/** Part of a message or of an output, as in A2A 1.0. Exactly one of `text`, `raw`, `url` and `data` is present. */
export const MessagePart = Type.Object({
  text: Type.Optional(Type.String()),
  /** Content of a file, as base64. */
  raw: Type.Optional(Type.String()),
  /** URL of a file. */
  url: Type.Optional(Type.String()),
  /** Structured data. */
  data: Type.Optional(Type.Unknown()),
  metadata: Type.Optional(JsonObject),
  filename: Type.Optional(Type.String()),
  mediaType: Type.Optional(Type.String()),
})
export type MessagePart = Static<typeof MessagePart>
