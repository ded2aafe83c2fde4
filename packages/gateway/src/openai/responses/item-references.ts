/**
 * Replaces references to items of earlier responses in an input. The provider of the AI SDK sends its earlier messages
 * so.
 *
 * GW-N17 A reference has the same effect as its item. It is resolved once, so that the run stores the item. The items
 *    of the response of another key require `runs:read`, as the response itself does.
 */
import { badRequest } from '../../http/api-error.ts'
import { parseItemRun, toReviewId } from './ids.ts'
import { toInputItem } from './input-items.ts'
import { findStoredRun, readResponses } from './stored-run.ts'

import type { Caller } from '../../caller.ts'
import type { GatewayOptions } from '../../gateway-options.ts'
import type { Problem } from '@tutti/protocol/internal'
import type { CreateResponseBody, InputItem, OutputItem } from './wire.ts'

/** Items of the runs that an input refers to, by run. */
type LoadedItems = Map<string, ReadonlyMap<string, OutputItem>>

/**
 * Returns a body without references.
 *
 * @throws {TuttiError} BAD_REQUEST, naming every reference without an item, and when the items exceed the maximum size
 * of a body; FORBIDDEN for the response of another key.
 */
export async function resolveReferences(
  options: GatewayOptions,
  caller: Caller,
  body: CreateResponseBody,
): Promise<CreateResponseBody> {
  const { input } = body
  if (!Array.isArray(input) || !input.some(isReference)) return body
  const loaded: LoadedItems = new Map()
  const problems: Problem[] = []
  const items: InputItem[] = []
  let room = options.maxBodyBytes
  for (const [index, item] of input.entries()) {
    if (!isReference(item)) {
      items.push(item)
      continue
    }
    const id = item.id ?? ''
    const found = await findItem(options, caller, { id, loaded })
    if (found === undefined) {
      const message = `refers to no item of a stored response, got "${id}"`
      problems.push({ path: `/input/${index}/id`, message })
      continue
    }
    const made = toInputItem(found)
    room -= Buffer.byteLength(JSON.stringify(made))
    if (room < 0) {
      const message = `refers to items of more than ${options.maxBodyBytes} bytes`
      throw badRequest('request body', [{ path: '/input', message }])
    }
    items.push(...made)
  }
  if (problems.length > 0) throw badRequest('request body', problems)
  return { ...body, input: items }
}

function isReference({ type }: InputItem): boolean {
  return type === 'item_reference'
}

/** Finds an item of a stored response. */
async function findItem(
  options: GatewayOptions,
  caller: Caller,
  { id, loaded }: { readonly id: string; readonly loaded: LoadedItems },
): Promise<OutputItem | undefined> {
  const reviewId = toReviewId(id)
  const runId =
    reviewId === undefined ? parseItemRun(id) : (await options.runs.reviews.get(reviewId))?.runId
  if (runId === undefined) return undefined
  const known = loaded.get(runId) ?? (await loadItems(options, caller, runId))
  loaded.set(runId, known)
  return known.get(id)
}

async function loadItems(
  options: GatewayOptions,
  caller: Caller,
  runId: string,
): Promise<ReadonlyMap<string, OutputItem>> {
  const stored = await findStoredRun(options, runId, caller)
  if (stored?.request.store !== true) return new Map()
  const responses = await readResponses(options, stored)
  const segments = Array.from({ length: responses.newest + 1 }, (_, segment) => segment)
  const items = segments.flatMap((segment) => responses.stateOf(segment).output)
  return new Map(items.map((item) => [item.id, item]))
}
