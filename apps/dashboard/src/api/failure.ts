/** Converts errors to texts for readers. */
import { TuttiClientError } from '@tutti/client'

import type { Problem } from '@tutti/protocol/internal'

/** Returns the message of an error. */
export function readFailureText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Returns the code of a server or client error; undefined for other errors. */
export function findFailureCode(error: unknown): string | undefined {
  return TuttiClientError.isInstance(error) ? error.code : undefined
}

/** Returns the problems that the server found in a body, by field. */
export function findFailureProblems(error: unknown): readonly Problem[] {
  return TuttiClientError.isInstance(error) ? (error.problems ?? []) : []
}
