/**
 * Pure: builds the client tools of a request.
 *
 * RUNS-I1 The input schema of a client tool is compiled and checked in bounded time, like an output schema.
 */
import type { ClientTool, Ensemble } from '@tutti/ensemble'
import { findClientToolProblems } from '@tutti/ensemble/internal'

import { field } from '../domain/field.ts'
import { boundedSchema, describeFault, newSchemaTime } from './bounded-schema.ts'
import { assertNoProblems } from './refusals.ts'

import type { ClientToolBody, Problem } from '@tutti/protocol/internal'

/** Returns the client tools of a request that was accepted. */
export function buildClientTools(bodies: readonly ClientToolBody[]): readonly ClientTool[] {
  return readClientTools(bodies).tools
}

/**
 * Checks the client tools of a request, and that their names are free in the ensemble that the run executes.
 *
 * @throws {TuttiError} BAD_REQUEST with every problem.
 */
export function assertClientTools(
  ensemble: Ensemble,
  bodies: readonly ClientToolBody[] = [],
): void {
  const { tools, problems } = readClientTools(bodies)
  assertNoProblems('/clientTools', problems)
  assertNoProblems('/clientTools', findClientToolProblems(ensemble, tools))
}

function readClientTools(bodies: readonly ClientToolBody[]): {
  readonly tools: readonly ClientTool[]
  readonly problems: readonly Problem[]
} {
  const time = newSchemaTime()
  const problems: Problem[] = []
  const tools = bodies.flatMap(({ name, description, inputSchema, timeoutMs }, index) => {
    try {
      const schema = boundedSchema(inputSchema, time)
      const tool: ClientTool = {
        name,
        inputSchema: schema,
        ...field('description', description),
        ...field('timeoutMs', timeoutMs === 0 ? Infinity : timeoutMs),
      }
      return [tool]
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      problems.push({
        path: `/${index}/inputSchema`,
        message: `is invalid: ${describeFault(error)}`,
      })
      return []
    }
  })
  return { tools, problems }
}
