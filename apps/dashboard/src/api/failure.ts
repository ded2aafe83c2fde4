/** What a person is told of a failure. */
import { TuttiClientError } from '@tutti/client'

import type { Problem } from '@tutti/protocol'

/** The words of an error. */
export function failureText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The code of an error of the server or the client; undefined for others. */
export function failureCode(error: unknown): string | undefined {
  return TuttiClientError.isInstance(error) ? error.code : undefined
}

/** What the server found wrong with a body, field by field. */
export function failureProblems(error: unknown): readonly Problem[] {
  return TuttiClientError.isInstance(error) ? (error.problems ?? []) : []
}
