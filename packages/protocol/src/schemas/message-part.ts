/** A part of a message or of an output, as A2A 1.0 has it. */
import Type from 'typebox'
import { JsonObject } from './scalars.ts'

/** Exactly one of `text`, `raw`, `url` and `data` is present. */
export const MessagePart = Type.Object({
  text: Type.Optional(Type.String()),
  /** Bytes of a file, in base64. */
  raw: Type.Optional(Type.String()),
  url: Type.Optional(Type.String()),
  data: Type.Optional(Type.Unknown()),
  metadata: Type.Optional(JsonObject),
  filename: Type.Optional(Type.String()),
  mediaType: Type.Optional(Type.String()),
})
export type MessagePart = Type.Static<typeof MessagePart>
