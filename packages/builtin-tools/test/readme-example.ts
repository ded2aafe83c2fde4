import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { runToolCalls, toModelText } from '@tutti/core'
import { calculator, datetime, fileRead, fileWrite, jsonParser } from '../src/index.ts'

const directory = mkdtempSync(join(tmpdir(), 'tutti-'))
const tools = [
  calculator(),
  datetime(),
  jsonParser(),
  fileRead({ directory }),
  fileWrite({ directory }),
]

const calls: readonly (readonly [name: string, input: object])[] = [
  ['calculator', { input: '(10 + 5) / 3 - 2^-1' }],
  ['calculator', { input: '1,000 * 2' }],
  ['datetime', { input: '2024-01-31 + 1 month' }],
  ['datetime', { input: 'convert 2024-07-01T09:00 from Europe/Berlin to Asia/Kolkata' }],
  ['json_parser', { jsonPath: 'items[0].id', json: '{"items":[{"id":12345678901234567890}]}' }],
  ['file_write', { path: 'notes/today.md', content: 'Buy milk' }],
  ['file_read', { path: '../secrets.md' }],
]
const outcomes = await runToolCalls(
  tools,
  calls.map(([name, input], index) => ({ id: `${index}`, name, arguments: JSON.stringify(input) })),
)
for (const { result } of outcomes) console.log(toModelText(result))
rmSync(directory, { recursive: true })
// 4.5
// Error: Invalid expression: unexpected "," at position 2; write numbers without separators between digits and with a decimal point, such as 1234.5
// 2024-02-29
// 2024-07-01T12:30:00 Asia/Kolkata
// 12345678901234567890
// Successfully wrote to: notes/today.md
// Error: Access denied: ../secrets.md: a path must not contain ".."
