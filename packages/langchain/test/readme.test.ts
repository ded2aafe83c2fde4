/** Tests that the example of the README is up to date and runs. */
import { readFile } from 'node:fs/promises'

import { expect, test } from 'vitest'

import { anthropicStub } from '../src/testing/index.ts'
import { runNode } from './run-script.ts'

const EXAMPLE = 'src/langchain-model.examples.ts'

function read(path: string): Promise<string> {
  return readFile(new URL(`../${path}`, import.meta.url), 'utf8')
}

test('The README contains the current example', async () => {
  const [, code = ''] = (await read(EXAMPLE)).split(/\/\/ #(?:end)?region.*\n/)
  expect(code).not.toBe('')
  expect(await read('README.md')).toContain(`\`\`\`ts\n${code}\`\`\``)
})

test('The example runs and prints its result', async () => {
  const calls = [{ name: 'population', arguments: { city: 'Cologne' } }]
  await using stub = await anthropicStub([
    { toolCalls: calls, usage: { inputTokens: 10, outputTokens: 2 } },
    { text: 'About a million.', usage: { inputTokens: 20, outputTokens: 4 } },
  ])
  const output = await runNode([EXAMPLE], {
    ANTHROPIC_API_KEY: 'key-of-the-tests',
    ANTHROPIC_BASE_URL: stub.baseUrl,
  })
  expect(output).toBe('About a million.\nCOMPLETED, 36 tokens\n')
  expect(JSON.stringify((await stub.request(1)).body['messages'])).toContain('1,084,831')
})
