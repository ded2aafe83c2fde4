/** Fields that requests of several OpenAI protocols have. */
import { Type, type TSchema } from '@tutti/core'

/** Returns the schema of a field that clients may send as null instead of omitting it. */
export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(Type.Union([schema, Type.Null()]))
}

/** Texts that an application stores with a response or a conversation. */
export const ResponseMetadata = nullable(
  Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 512 }), {
    maxProperties: 16,
  }),
)
