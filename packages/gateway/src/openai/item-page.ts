/** Pure: pages of items, as OpenAI's API has them. */
import { badRequest } from '../http/api-error.ts'

import type { Problem } from '@tutti/protocol/internal'

export interface ItemPage<Item> {
  readonly object: 'list'
  readonly data: readonly Item[]
  readonly first_id: string | null
  readonly last_id: string | null
  readonly has_more: boolean
}

/** Position and size of a page. */
export interface PageQuery {
  readonly limit: number
  readonly order: 'asc' | 'desc'
  /** Id of the item before the page. */
  readonly after: string | undefined
}

/** Default and maximum number of items of a page, as OpenAI has them. */
const PAGE = { limit: 20, maxLimit: 100 }

/**
 * Reads the query of a list of items.
 *
 * @throws {TuttiError} BAD_REQUEST, with every problem.
 */
export function readPageQuery(query: URLSearchParams): PageQuery {
  const limit = query.get('limit') ?? String(PAGE.limit)
  const order = query.get('order') ?? 'desc'
  const problems: Problem[] = []
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > PAGE.maxLimit) {
    const message = `must be an integer from 1 to ${PAGE.maxLimit}, got ${JSON.stringify(limit)}`
    problems.push({ path: '/limit', message })
  }
  if (order !== 'asc' && order !== 'desc') {
    const message = `must be "asc" or "desc", got ${JSON.stringify(order)}`
    problems.push({ path: '/order', message })
  }
  if (problems.length > 0) throw badRequest('query', problems)
  return {
    limit: Number(limit),
    order: order === 'asc' ? 'asc' : 'desc',
    after: query.get('after') ?? undefined,
  }
}

/** Returns a page with its ids. */
export function toItemPage<Item extends { readonly id: string }>(
  data: readonly Item[],
  hasMore: boolean,
): ItemPage<Item> {
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  }
}

/** Returns a page of all items, which are in ascending order. */
export function selectPage<Item extends { readonly id: string }>(
  items: readonly Item[],
  { limit, order, after }: PageQuery,
): ItemPage<Item> {
  const ordered = order === 'asc' ? items : items.toReversed()
  const from = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1
  return toItemPage(ordered.slice(from, from + limit), from + limit < ordered.length)
}
