/** Reads the schema of the answer from the question of a Tutti server. Pure. */
import { isJsonObject } from '@tutti/protocol/internal'

import type { TSchema } from '@tutti/core'

/**
 * Returns the JSON Schema of the answer that the data of a review states: `answerSchema`, or `answer_schema` on the
 * `/tasks` wire. Undefined for other data, and for reviews that do not ask a question.
 */
export function toAnswerSchema(review: unknown): TSchema | undefined {
  if (!isJsonObject(review) || review['kind'] !== 'QUESTION') return undefined
  const schema = review['answerSchema'] ?? review['answer_schema']
  return isJsonObject(schema) ? schema : undefined
}
