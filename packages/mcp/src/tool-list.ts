/**
 * Lists the tools of a server, page by page and entry by entry.
 *
 * MCP-L1 An entry that cannot be used is skipped and named. Optional fields that cannot be read are dropped with a
 *    warning.
 * MCP-L2 The list ends at a cursor that is missing, empty, not text, or was used before. A list that ends early, or is
 *    cut by a limit, has a warning.
 * MCP-L3 Of several tools with one name the first one is used, because a call names only the tool.
 */
import { isJsonObject } from '@tutti/core/internal'

import { LISTED } from './incoming/adapt-result.ts'
import { preview } from './incoming/failed-answer.ts'
import { McpError, toMcpError } from './mcp-error.ts'

import type { Client, StandardSchemaV1, Tool } from '@modelcontextprotocol/client'

/** An entry of a list that cannot be used. */
export interface SkippedMcpEntry {
  /** Its name, or its position if it has none. */
  readonly name: string
  readonly reason: string
}

/** The tools of a server. */
export interface McpToolList {
  /** The usable tools, in the server's order. */
  readonly tools: readonly Tool[]
  readonly skipped: readonly SkippedMcpEntry[]
  /** Parts that were dropped from tools, and reasons why the list is incomplete. */
  readonly warnings: readonly string[]
}

/** Maximum number of pages, because a faulty server may send pages forever. */
const MAX_PAGES = 100

/** Maximum number of tools; more than any model accepts. */
const MAX_TOOLS = 5_000

/** Maximum number of characters of the schemas of one tool, which are sent to models. */
const MAX_SCHEMA_LENGTH = 200_000

/** Accepts every result, because the entries are checked one by one. */
const ANY_RESULT: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'tutti', validate: (value) => ({ value }) },
}

/** Source of a list. */
export interface ListedServer {
  readonly client: Client
  /** Name of the server in messages. */
  readonly name: string
  /** Maximum time for the whole list, in milliseconds. */
  readonly timeoutMs: number
}

/**
 * Lists the tools of a server.
 *
 * @throws the error of the first page. If a later page fails, the tools of the pages before it are returned.
 */
export async function readToolList(server: ListedServer): Promise<McpToolList> {
  const collected = new ToolCollection()
  if (server.client.getServerCapabilities()?.tools === undefined) return collected
  const endsAt = performance.now() + server.timeoutMs
  const used = new Set<string>()
  let cursor: string | undefined
  for (let page = 1; ; page += 1) {
    const leftMs = Math.max(1, endsAt - performance.now())
    const read = await readPage(server, { page, cursor, leftMs })
    if ('problem' in read) {
      collected.warn(`the list ends before page ${page}, which failed: ${read.problem}`)
      return collected
    }
    collected.add(read.tools)
    const next = read.nextCursor
    if (next === undefined || next === null || next === '') return collected
    const end = findEnd(next, { page, used, size: collected.tools.length })
    if (end !== undefined || typeof next !== 'string') {
      collected.warn(end ?? '')
      return collected
    }
    used.add(next)
    cursor = next
  }
}

/** Returns why the list ends at a cursor; undefined if it does not. */
function findEnd(
  cursor: unknown,
  {
    page,
    used,
    size,
  }: { readonly page: number; readonly used: Set<string>; readonly size: number },
): string | undefined {
  if (typeof cursor !== 'string') {
    return `the list ends after page ${page}: its cursor must be text, got ${preview(cursor)}`
  }
  if (used.has(cursor)) {
    return `the list ends after page ${page}: the server repeated the cursor ${preview(cursor)}`
  }
  if (page >= MAX_PAGES) return `the list was cut after ${MAX_PAGES} pages`
  return size >= MAX_TOOLS ? `the list was cut after ${MAX_TOOLS} tools` : undefined
}

interface PageRequest {
  readonly page: number
  readonly cursor: string | undefined
  readonly leftMs: number
}

type Page = { readonly tools: unknown; readonly nextCursor: unknown } | { readonly problem: string }

async function readPage(
  { client, name }: ListedServer,
  { page, cursor, leftMs }: PageRequest,
): Promise<Page> {
  const params = cursor === undefined ? {} : { cursor }
  try {
    // A plain request: `client.listTools` would make the client reject results that do not match the output schema.
    const request = { method: 'tools/list' as const, params }
    const result = await client.request(request, ANY_RESULT, { timeout: leftMs })
    const meta = isJsonObject(result) ? result['_meta'] : undefined
    const moved = isJsonObject(meta) ? meta[LISTED] : undefined
    const { tools, nextCursor } = isJsonObject(moved) ? moved : isJsonObject(result) ? result : {}
    if (Array.isArray(tools)) return { tools, nextCursor }
    const problem = `its list of tools must be a list, got ${preview(tools)}`
    throw new McpError(
      'invalid_response',
      `MCP server ${name} sent an invalid response: ${problem}`,
    )
  } catch (error) {
    const failure = toMcpError(error, { name, phase: 'call' })
    const isOfPage =
      failure instanceof McpError &&
      (failure.kind === 'rpc_error' || failure.kind === 'invalid_response')
    if (page === 1 || !isOfPage) throw error
    return { problem: failure.message }
  }
}

class ToolCollection implements McpToolList {
  readonly tools: Tool[] = []
  readonly skipped: SkippedMcpEntry[] = []
  readonly warnings: string[] = []
  readonly #names = new Set<string>()
  readonly #repeated = new Set<string>()
  #size = 0

  warn(warning: string): void {
    this.warnings.push(warning)
  }

  add(entries: unknown): void {
    for (const entry of Array.isArray(entries) ? entries : []) {
      this.#size += 1
      if (this.#size > MAX_TOOLS) {
        if (this.#size === MAX_TOOLS + 1) this.warn(`the list was cut after ${MAX_TOOLS} tools`)
        return
      }
      this.#addOne(entry)
    }
  }

  #addOne(entry: unknown): void {
    const name = isJsonObject(entry) ? entry['name'] : undefined
    if (!isJsonObject(entry) || typeof name !== 'string' || name === '') {
      const reason = isJsonObject(entry)
        ? `its name must be text, got ${preview(name)}`
        : `it must be an object, got ${preview(entry)}`
      this.skipped.push({ name: `tool ${this.#size}`, reason })
      return
    }
    if (this.#names.has(name)) {
      if (!this.#repeated.has(name)) {
        this.warn(`${name}: the server lists it more than once; the first one is used`)
      }
      this.#repeated.add(name)
      return
    }
    this.#names.add(name)
    const problem = findSchemaProblem(entry['inputSchema'])
    if (problem === undefined) this.tools.push(this.#toTool(name, entry))
    else this.skipped.push({ name, reason: problem })
  }

  /** Returns the tool with the fields that are used. */
  #toTool(name: string, entry: Readonly<Record<string, unknown>>): Tool {
    const text = (field: string): string | undefined =>
      this.#pick(name, { field, value: entry[field], wanted: 'text' })
    const object = (field: string): Record<string, unknown> | undefined =>
      this.#pick(name, { field, value: entry[field], wanted: 'an object' })
    const [title, description] = [text('title'), text('description')]
    const [annotations, execution] = [object('annotations'), object('execution')]
    const outputSchema = object('outputSchema')
    const known = {
      name,
      inputSchema: entry['inputSchema'],
      ...(title === undefined ? {} : { title }),
      ...(description === undefined ? {} : { description }),
      ...(outputSchema === undefined ? {} : { outputSchema }),
      ...(annotations === undefined ? {} : { annotations: pickAnnotations(annotations) }),
      ...(execution === undefined ? {} : { execution }),
    }
    // NOTE: the fields that are read were checked.
    return known as Tool
  }

  /** Returns an optional field; drops another type with a warning. */
  #pick<Wanted extends keyof FieldTypes>(
    name: string,
    { field, value, wanted }: { field: string; value: unknown; wanted: Wanted },
  ): FieldTypes[Wanted] | undefined {
    if (value === undefined || value === null) return undefined
    const matches = wanted === 'text' ? typeof value === 'string' : isJsonObject(value)
    // NOTE: the line above checks the type.
    if (matches) return value as FieldTypes[Wanted]
    this.warn(`${name}: its ${field} must be ${wanted}, got ${preview(value)}; it was dropped`)
    return undefined
  }
}

interface FieldTypes {
  readonly text: string
  readonly 'an object': Record<string, unknown>
}

/** Returns the title, and the hints that are true or false. */
function pickAnnotations(annotations: Readonly<Record<string, unknown>>): Tool['annotations'] {
  return Object.fromEntries(
    Object.entries(annotations).filter(([name, value]) =>
      name === 'title' ? typeof value === 'string' : typeof value === 'boolean',
    ),
  )
}

/** Returns why a tool with this input cannot be used; undefined if it can. */
function findSchemaProblem(schema: unknown): string | undefined {
  if (!isJsonObject(schema)) return `its inputSchema must be an object, got ${preview(schema)}`
  const { type, properties } = schema
  if (type !== 'object') {
    return `its inputSchema must have the type "object", got ${type === undefined ? 'none' : preview(type)}`
  }
  if (properties !== undefined && !isJsonObject(properties)) {
    return `its inputSchema must have properties that are an object, got ${preview(properties)}`
  }
  return findLengthProblem(schema)
}

function findLengthProblem(schema: unknown): string | undefined {
  try {
    const { length } = JSON.stringify(schema)
    if (length <= MAX_SCHEMA_LENGTH) return undefined
    return `its inputSchema has ${length} characters; at most ${MAX_SCHEMA_LENGTH}`
  } catch {
    return 'its inputSchema is nested too deeply'
  }
}
