/** Checks requests as Gemini would, with its error messages. Pure. */
import { fieldsIn, isFields, listSchemas, type InnerSchema } from '../rules/map-schema.ts'
import { fieldsOf, itemsOf } from './pieces.ts'
import {
  findRuleProblem,
  refuse,
  rulesOf,
  type CheckedMessage,
  type CheckedRequest,
  type CheckedTool,
} from './rules-check.ts'

import type { StubFailure, StubRequest } from './provider-stub.ts'

type Fields = StubRequest['body']

const RULES = rulesOf('google-genai')

/** Returns the failure response to a request, or undefined for a valid one. */
export function findGeminiProblem({ body }: StubRequest): StubFailure | undefined {
  const sent = readSent(body)
  const contents = itemsOf(body['contents'])
  const message =
    findPartProblem(contents) ??
    findRuleProblem(sent, RULES) ??
    findDeclarationProblem(sent.tools) ??
    findResponseProblem(contents)
  return message === undefined ? undefined : { status: 400, message }
}

function findPartProblem(contents: readonly Fields[]): string | undefined {
  if (contents.length === 0) return '* GenerateContentRequest.contents: contents is not specified'
  const role = contents.find((content) => !['user', 'model'].includes(String(content['role'])))
  return role === undefined ? undefined : 'Please use a valid role: user, model.'
}

/** Returns the parts of a request that have rules. */
function readSent(body: Fields): CheckedRequest {
  const declarations = itemsOf(body['tools']).flatMap((tool) =>
    itemsOf(tool['functionDeclarations']),
  )
  const tools = declarations.map(({ name, parameters }, index): CheckedTool => {
    const at = `tools[0].function_declarations[${index}]`
    return {
      name: String(name),
      at: `${at}.name`,
      schema: parameters,
      schemaAt: `${at}.parameters`,
    }
  })
  const { systemInstruction } = body
  const system = fieldsOf(systemInstruction)
  const head = systemInstruction === undefined ? [] : [readContent(system, 'system_instruction')]
  const messages = itemsOf(body['contents']).map((content, index) =>
    readContent(content, `contents[${index}]`),
  )
  return { body, tools, messages: [...head, ...messages] }
}

function readContent({ role, parts }: Fields, at: string): CheckedMessage {
  const all = itemsOf(parts)
  if (all.some((part) => 'functionResponse' in part)) {
    return { role: 'tool', at, text: undefined, calls: [] }
  }
  const calls = all.flatMap((part, index) => {
    if (!('functionCall' in part)) return []
    const name = String(fieldsOf(part['functionCall'])['name'])
    const callAt = `${at}.parts[${index}].function_call`
    return [{ id: callAt, idAt: callAt, name, nameAt: `${callAt}.name` }]
  })
  const texts = all.map(({ text }) => (typeof text === 'string' ? text : ''))
  const kind = role === 'model' ? 'assistant' : at === 'system_instruction' ? 'system' : 'user'
  return { role: kind, at, text: texts.join(''), calls }
}

/** The turn after calls must have one response for each, with its name. */
function findResponseProblem(contents: readonly Fields[]): string | undefined {
  let open: readonly unknown[] = []
  for (const content of contents) {
    const parts = itemsOf(content['parts'])
    const responses = parts.filter((part) => 'functionResponse' in part)
    if (responses.length !== open.length) {
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
    }
    const wrong = responses.some((part) => !open.includes(nameOf(part['functionResponse'])))
    if (wrong && RULES.uniqueToolCallIds !== undefined) return refuse(RULES.uniqueToolCallIds)
    const calls = parts.filter((part) => 'functionCall' in part)
    open = calls.map((part) => nameOf(part['functionCall']))
  }
  return undefined
}

function nameOf(part: unknown): unknown {
  return fieldsOf(part)['name']
}

function findDeclarationProblem(tools: readonly CheckedTool[]): string | undefined {
  for (const { schema, schemaAt = '' } of tools) {
    if (schema === undefined) continue
    if (Object.keys(fieldsIn(fieldsIn(schema)['properties'])).length === 0) {
      return RULES.emptyObject && refuse(RULES.emptyObject, { at: schemaAt })
    }
    for (const inner of listSchemas(schema)) {
      const problem = findSchemaProblem(inner, [schemaAt, ...inner.path].join('.'))
      if (problem !== undefined) return problem
    }
  }
  return undefined
}

function findSchemaProblem({ fields }: InnerSchema, at: string): string | undefined {
  const { keywords } = RULES
  const unknown = Object.keys(fields).find((keyword) => keywords?.keywords.has(keyword) === false)
  if (keywords !== undefined && unknown !== undefined)
    return refuse(keywords, { at, value: unknown })
  const { type, enum: values, format, items, anyOf, required, properties } = fields
  if (anyOf !== undefined) {
    return Object.keys(fields).length === 1
      ? undefined
      : `Unable to submit request because one or more function parameters specified other fields alongside any_of. When using any_of, it must be the only fields set.`
  }
  if (typeof type !== 'string') {
    return `Invalid value at '${at}.type' (type.googleapis.com/google.ai.generativelanguage.v1beta.Type)`
  }
  if (type === 'array' && items === undefined)
    return `* GenerateContentRequest.${at}.items: missing field.`
  if (values !== undefined && !(type === 'string' && isTextList(values))) {
    return `Invalid value at '${at}.enum' (TYPE_STRING)`
  }
  const formats: readonly unknown[] = keywords?.formats[type] ?? []
  if (format !== undefined && !formats.includes(format)) {
    return `* GenerateContentRequest.${at}.format: only ${formats.join(', ')} are supported for ${type.toUpperCase()} type`
  }
  const value = Object.values(fieldsIn(properties)).find((inner) => !isFields(inner))
  if (value !== undefined) {
    return `Invalid value at '${at}.properties' (type.googleapis.com/google.ai.generativelanguage.v1beta.Schema), ${JSON.stringify(value)}`
  }
  const names: readonly unknown[] = Array.isArray(required) ? required : []
  const isDefined = names.every((name) => Object.hasOwn(fieldsIn(properties), String(name)))
  return isDefined ? undefined : `* GenerateContentRequest.${at}.required: property is not defined`
}

function isTextList(values: unknown): boolean {
  return Array.isArray(values) && values.every((value) => typeof value === 'string' && value !== '')
}
