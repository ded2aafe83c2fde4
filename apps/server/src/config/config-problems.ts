/** Finds the problems of a config. Pure, except that it checks the directory of the workspace. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'

import { Scope } from '@tutti/protocol'
import {
  findExcessProblems,
  isJsonObject,
  MAX_TIME_MS,
  suggest,
  WebhookEventType,
  MAX_COUNT,
  RunPriority,
} from '@tutti/protocol/internal'
import { loadScheduleChecks, findRunLimitProblems, isRunLimit } from '@tutti/runs/internal'

import { MIN_KEY_LENGTH } from '../environment/api-keys.ts'

import type { OptionNames } from '@tutti/core/internal'
import type { ConfiguredSchedule } from '@tutti/runs'
import type {
  AuthConfig,
  KeyConfig,
  KeyLimitsConfig,
  LimitsConfig,
  ProfileConfig,
  ReviewsConfig,
  SharedConfig,
  TelemetryConfig,
  TracesConfig,
  TuttiConfig,
  WebhookConfig,
} from './config.ts'

const SETTING_NAMES = {
  ensembles: true,
  tools: true,
  models: true,
  modelTiers: true,
  profiles: true,
  limits: true,
  auth: true,
  allowedHosts: true,
  publicUrl: true,
  allowedOrigins: true,
  workspace: true,
  dashboard: true,
  shared: true,
  reviews: true,
  webhooks: true,
  schedules: true,
  secrets: true,
  telemetry: true,
} as const satisfies OptionNames<TuttiConfig>

const LIMIT_NAMES = {
  maxConcurrentRuns: true,
  maxRunsPerProcess: true,
  maxQueuedRuns: true,
  maxRetainedRuns: true,
  maxRetainedAgeMs: true,
  maxRetainedStepsMs: true,
  maxStoredEvents: true,
  maxStoredEventAgeMs: true,
  maxHistoryRuns: true,
  maxHistoryBytes: true,
  leaseMs: true,
  maxBodyBytes: true,
  maxInputBytes: true,
  maxTextBytes: true,
  maxRunTextBytes: true,
  maxEventBytes: true,
  maxStoredRunBytes: true,
  maxBytesInFlight: true,
  maxToolCalls: true,
  maxAuditEntries: true,
  maxConnections: true,
  maxConnectionsPerAddress: true,
  maxUnreadBytes: true,
  maxTraceBytes: true,
  maxSockets: true,
  drainTimeoutMs: true,
} as const satisfies OptionNames<LimitsConfig>

const AUTH_NAMES = {
  keys: true,
  allowUnauthenticated: true,
} as const satisfies OptionNames<AuthConfig>

const KEY_NAMES = {
  name: true,
  key: true,
  sha256: true,
  scopes: true,
  roles: true,
  expiresAt: true,
  limits: true,
} as const satisfies OptionNames<KeyConfig>

const REVIEW_NAMES = {
  timeoutMs: true,
  onTimeout: true,
  requiredRole: true,
  allowOverride: true,
} as const satisfies OptionNames<ReviewsConfig>

const KEY_LIMIT_NAMES = {
  maxUnfinishedRuns: true,
  requestsPerMinute: true,
  maxCostUsdPerDay: true,
  maxPriority: true,
} as const satisfies OptionNames<KeyLimitsConfig>

const SHARED_NAMES = {
  ensembles: true,
  tools: true,
  models: true,
  ignoreSampling: true,
  tags: true,
} as const satisfies OptionNames<SharedConfig>

const PROFILE_NAMES = {
  modelTier: true,
} as const satisfies OptionNames<ProfileConfig>

const WEBHOOK_NAMES = {
  url: true,
  secret: true,
  events: true,
} as const satisfies OptionNames<WebhookConfig>

const SCHEDULE_NAMES = {
  name: true,
  cron: true,
  timeZone: true,
  run: true,
  jitterMs: true,
  catchUp: true,
  overlap: true,
  paused: true,
  actor: true,
} as const satisfies OptionNames<ConfiguredSchedule>

const TELEMETRY_NAMES = {
  traces: true,
  captureContent: true,
  maxAddedTasks: true,
} as const satisfies OptionNames<TelemetryConfig>

const TRACES_NAMES = {
  url: true,
  headers: true,
  serviceName: true,
  sampleRatio: true,
} as const satisfies OptionNames<TracesConfig>

/** Returns every problem of the value that a config file exports. No problem contains a key or a secret. */
export async function findConfigProblems(config: unknown): Promise<readonly string[]> {
  if (!isJsonObject(config)) {
    return ['the default export must be a config: export default defineConfig({ … })']
  }
  return [
    ...findUnknownFields('setting', config, SETTING_NAMES),
    ...ensembleProblems(config['ensembles']),
    ...limitProblems('limits', config['limits'], LIMIT_NAMES),
    ...authProblems(config['auth']),
    ...['allowedHosts', 'allowedOrigins', 'secrets'].flatMap((name) =>
      textListProblems(`"${name}"`, config[name]),
    ),
    ...publicUrlProblems(config['publicUrl']),
    ...workspaceProblems(config['workspace']),
    ...dashboardProblems(config['dashboard']),
    ...tierProblems(config['modelTiers']),
    ...profileProblems(config['profiles']),
    ...sharedProblems(config['shared']),
    ...reviewProblems(config['reviews']),
    ...webhookProblems(config['webhooks']),
    ...(await scheduleProblems(config['schedules'])),
    ...telemetryProblems(config['telemetry']),
  ]
}

type Fields = Readonly<Record<string, unknown>>

type Names = Readonly<Record<string, true>>

function findUnknownFields(what: string, value: Fields, known: Names): readonly string[] {
  const names = Object.keys(known)
  return Object.keys(value)
    .filter((key) => !names.includes(key))
    .map((key) => {
      const meant = suggest(key, names)
      const hint = meant === undefined ? `Known: ${names.join(', ')}` : `Did you mean "${meant}"?`
      return `"${key}" is not a known ${what}. ${hint}`
    })
}

function ensembleProblems(ensembles: unknown): readonly string[] {
  if (!Array.isArray(ensembles) || ensembles.length === 0) {
    return ['"ensembles" must be a list of at least one ensemble']
  }
  if (ensembles.every(isEnsemble)) return []
  return ['"ensembles" must contain values created by ensemble() of @tutti/ensemble']
}

function isEnsemble(value: unknown): boolean {
  return (
    isJsonObject(value) && 'name' in value && 'tasks' in value && typeof value['run'] === 'function'
  )
}

function limitProblems(what: string, limits: unknown, known: Names): readonly string[] {
  if (limits === undefined) return []
  if (!isJsonObject(limits)) return [`"${what}" must be an object of numbers`]
  const wrong = Object.entries(limits).filter(
    ([name, limit]) =>
      name in known &&
      !isRunLimit(name) &&
      limit !== undefined &&
      !(typeof limit === 'number' && limit >= 0),
  )
  const others = Object.entries(limits).filter(([name]) => !isRunLimit(name))
  return [
    ...findUnknownFields(`limit in "${what}"`, limits, known),
    ...wrong.map(
      ([name, limit]) => `${name} in "${what}" must be a number >= 0, got ${JSON.stringify(limit)}`,
    ),
    ...[...findRunLimitProblems(limits), ...findExcessProblems(Object.fromEntries(others))].map(
      (problem) => `in "${what}", ${problem}`,
    ),
  ]
}

function keyLimitProblems(what: string, limits: unknown): readonly string[] {
  if (!isJsonObject(limits)) return limitProblems(what, limits, KEY_LIMIT_NAMES)
  const { maxPriority, ...others } = limits
  const known: readonly unknown[] = [undefined, ...RunPriority.enum]
  return [
    ...limitProblems(what, others, KEY_LIMIT_NAMES),
    ...(known.includes(maxPriority)
      ? []
      : [
          `maxPriority in "${what}" must be one of ${RunPriority.enum.join(', ')}, got ${JSON.stringify(maxPriority)}`,
        ]),
  ]
}

/** The run service checks the values of the other fields. */
function reviewProblems(reviews: unknown): readonly string[] {
  if (reviews === undefined) return []
  if (!isJsonObject(reviews)) return ['"reviews" must be an object']
  const { allowOverride = false } = reviews
  return [
    ...findUnknownFields('setting of "reviews"', reviews, REVIEW_NAMES),
    ...(typeof allowOverride === 'boolean'
      ? []
      : ['"reviews.allowOverride" must be true or false']),
  ]
}

function authProblems(auth: unknown): readonly string[] {
  if (auth === undefined) return []
  if (!isJsonObject(auth)) return ['"auth" must be an object']
  const { keys = [], allowUnauthenticated = false } = auth
  return [
    ...findUnknownFields('setting of "auth"', auth, AUTH_NAMES),
    ...(typeof allowUnauthenticated === 'boolean'
      ? []
      : ['"auth.allowUnauthenticated" must be true or false']),
    ...(Array.isArray(keys) ? keys.flatMap(keyProblems) : ['"auth.keys" must be a list of keys']),
  ]
}

function keyProblems(entry: unknown, index: number): readonly string[] {
  const what = `"auth.keys[${index}]"`
  if (!isJsonObject(entry)) return [`${what} must be an object`]
  const { name, key, sha256, scopes = [], roles, expiresAt, limits } = entry
  const problems: string[] = [...findUnknownFields(`field of ${what}`, entry, KEY_NAMES)]
  if (typeof name !== 'string' || name === '') problems.push(`${what} must have a name`)
  if ((key === undefined) === (sha256 === undefined)) {
    problems.push(`${what} must have either a key or its sha256`)
  }
  if (key !== undefined && !(typeof key === 'string' && isKey(key))) {
    problems.push(`key of ${what} must have at least ${MIN_KEY_LENGTH} characters and no spaces`)
  }
  if (sha256 !== undefined && !(typeof sha256 === 'string' && /^[0-9a-f]{64}$/i.test(sha256))) {
    problems.push(`sha256 of ${what} must be 64 hexadecimal digits`)
  }
  if (expiresAt !== undefined && !(toEpochMs(expiresAt) <= MAX_TIME_MS)) {
    problems.push(
      `expiresAt of ${what} must be milliseconds since 1970 or a time such as ` +
        `"2030-01-31T00:00:00Z", at most in the year 9999, got ${JSON.stringify(expiresAt)}`,
    )
  }
  problems.push(
    ...scopeProblems(what, scopes),
    ...textListProblems(`roles of ${what}`, roles),
    ...keyLimitProblems(`limits of auth.keys[${index}]`, limits),
  )
  return problems
}

function isKey(key: string): boolean {
  return key.length >= MIN_KEY_LENGTH && !/\s/.test(key)
}

function scopeProblems(what: string, scopes: unknown): readonly string[] {
  const known: readonly unknown[] = Scope.enum
  if (Array.isArray(scopes) && scopes.every((scope) => known.includes(scope))) return []
  const wanted = `must be a list of ${known.join(', ')}`
  return [`scopes of ${what} ${wanted}, got ${JSON.stringify(scopes)}`]
}

/** Converts a time to milliseconds since 1970. Returns NaN when it is not a time. */
export function toEpochMs(time: unknown): number {
  if (typeof time === 'number') return time
  return typeof time === 'string' ? Date.parse(time) : Number.NaN
}

function textListProblems(what: string, list: unknown): readonly string[] {
  if (list === undefined) return []
  if (Array.isArray(list) && list.every((text) => typeof text === 'string')) return []
  return [`${what} must be a list of strings`]
}

function workspaceProblems(workspace: unknown): readonly string[] {
  if (workspace === undefined) return []
  if (typeof workspace !== 'string') return ['"workspace" must be the path of a directory']
  const path = resolve(workspace)
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return []
  return [`"workspace" must be a directory, but "${path}" is not`]
}

/** The control API checks that a string is an address. */
function publicUrlProblems(publicUrl: unknown): readonly string[] {
  const isFine = publicUrl === undefined || typeof publicUrl === 'string'
  return isFine ? [] : ['"publicUrl" must be a string such as "https://agents.example.com"']
}

function dashboardProblems(dashboard: unknown): readonly string[] {
  const isFine = dashboard === undefined || typeof dashboard === 'boolean'
  return isFine ? [] : ['"dashboard" must be true or false']
}

/** The model catalog checks that the tiers name existing models. */
function tierProblems(tiers: unknown): readonly string[] {
  if (tiers === undefined) return []
  if (!isJsonObject(tiers)) return ['"modelTiers" must be an object of model aliases by tier']
  return Object.entries(tiers).flatMap(([name, alias]) =>
    typeof alias === 'string' ? [] : [`"modelTiers.${name}" must be the alias of a model`],
  )
}

function profileProblems(profiles: unknown): readonly string[] {
  if (profiles === undefined) return []
  if (!isJsonObject(profiles)) return ['"profiles" must be an object of profiles by name']
  return Object.entries(profiles).flatMap(([name, profile]) => {
    const what = `"profiles.${name}"`
    if (!isJsonObject(profile)) return [`${what} must be an object`]
    return [
      ...findUnknownFields(`setting of ${what}`, profile, PROFILE_NAMES),
      ...(typeof profile['modelTier'] === 'string' ? [] : [`${what} must have a modelTier`]),
    ]
  })
}

function sharedProblems(shared: unknown): readonly string[] {
  if (shared === undefined) return []
  if (!isJsonObject(shared)) return ['"shared" must be an object']
  return [
    ...findUnknownFields('setting of "shared"', shared, SHARED_NAMES),
    ...tagProblems(shared['tags']),
    ...textListProblems('"shared.ensembles"', shared['ensembles']),
    ...textListProblems('"shared.tools"', shared['tools']),
    ...textListProblems('"shared.models"', shared['models']),
    ...textListProblems('"shared.ignoreSampling"', shared['ignoreSampling']),
  ]
}

function tagProblems(tags: unknown): readonly string[] {
  if (tags === undefined) return []
  if (!isJsonObject(tags)) return ['"shared.tags" must be an object of lists of tags by name']
  return Object.entries(tags).flatMap(([name, list]) =>
    textListProblems(`"shared.tags.${name}"`, list),
  )
}

/** The webhook sender checks the format of addresses and secrets. */
function webhookProblems(webhooks: unknown): readonly string[] {
  if (webhooks === undefined) return []
  if (!isJsonObject(webhooks)) return ['"webhooks" must be an object of webhooks by name']
  return Object.entries(webhooks).flatMap(([name, webhook]) => {
    const what = `"webhooks.${name}"`
    if (!isJsonObject(webhook)) return [`${what} must be an object`]
    const { url, secret, events = [] } = webhook
    const known: readonly unknown[] = WebhookEventType.enum
    const isKnown = Array.isArray(events) && events.every((event) => known.includes(event))
    return [
      ...findUnknownFields(`setting of ${what}`, webhook, WEBHOOK_NAMES),
      ...(typeof url === 'string' ? [] : [`${what} must have a url`]),
      ...(typeof secret === 'string' ? [] : [`${what} must have a secret`]),
      ...(isKnown ? [] : [`events of ${what} must be a list of ${known.join(', ')}`]),
    ]
  })
}

/** Returns problems without the values of headers. */
function telemetryProblems(telemetry: unknown): readonly string[] {
  if (telemetry === undefined) return []
  if (!isJsonObject(telemetry)) return ['"telemetry" must be an object']
  const { traces = false, captureContent = false, maxAddedTasks = 0 } = telemetry
  return [
    ...findUnknownFields('setting of "telemetry"', telemetry, TELEMETRY_NAMES),
    ...(typeof captureContent === 'boolean'
      ? []
      : ['"telemetry.captureContent" must be true or false']),
    ...(Number.isSafeInteger(maxAddedTasks) &&
    Number(maxAddedTasks) >= 0 &&
    Number(maxAddedTasks) <= MAX_COUNT
      ? []
      : [
          `"telemetry.maxAddedTasks" must be a whole number from 0 to ${MAX_COUNT}, got ${JSON.stringify(maxAddedTasks)}`,
        ]),
    ...(typeof traces === 'boolean' ? [] : tracesProblems(traces)),
  ]
}

function tracesProblems(traces: unknown): readonly string[] {
  const what = '"telemetry.traces"'
  if (!isJsonObject(traces)) return [`${what} must be true, false or an object`]
  const { url, headers = {}, serviceName, sampleRatio = 1 } = traces
  const isUrl = typeof url === 'string' && /^https?:/.test(url) && URL.canParse(url)
  const areStrings =
    isJsonObject(headers) && Object.values(headers).every((value) => typeof value === 'string')
  const isRatio = typeof sampleRatio === 'number' && sampleRatio >= 0 && sampleRatio <= 1
  return [
    ...findUnknownFields(`setting of ${what}`, traces, TRACES_NAMES),
    ...(url === undefined || isUrl ? [] : [`url of ${what} must be a URL`]),
    ...(areStrings ? [] : [`headers of ${what} must be strings by name`]),
    ...(serviceName === undefined || typeof serviceName === 'string'
      ? []
      : [`serviceName of ${what} must be a string`]),
    ...(isRatio ? [] : [`sampleRatio of ${what} must be a number from 0 to 1`]),
  ]
}

/** Finds the problems of schedules, apart from those of their submissions, which the run service finds at its start. */
async function scheduleProblems(schedules: unknown): Promise<readonly string[]> {
  if (schedules === undefined) return []
  if (!Array.isArray(schedules)) return ['"schedules" must be a list of schedules']
  const { findDefinitionProblems, findScheduleNameProblem } = await loadScheduleChecks()
  const names = new Set<unknown>()
  return schedules.flatMap((schedule: unknown, index) => {
    const where = `"schedules[${index}]"`
    if (!isJsonObject(schedule)) return [`${where} must be an object`]
    const { name, cron, timeZone, actor, paused } = schedule
    const texts = {
      name,
      cron,
      ...(timeZone === undefined ? {} : { timeZone }),
      ...(actor === undefined ? {} : { actor }),
    }
    const wrong = Object.entries(texts).filter(([, value]) => typeof value !== 'string')
    const problems = [
      ...findUnknownFields(`field of ${where}`, schedule, SCHEDULE_NAMES),
      ...wrong.map(([field]) => `${where}: "${field}" must be a text`),
      ...(paused === undefined || typeof paused === 'boolean'
        ? []
        : [`${where}: "paused" must be true or false`]),
      ...(names.has(name)
        ? [`${where}: the name ${JSON.stringify(name)} is taken by an earlier one`]
        : []),
    ]
    names.add(name)
    if (wrong.length > 0) return problems
    // NOTE: a cast at the boundary: the texts have just been checked, and the function checks the other fields.
    const definition = schedule as unknown as ConfiguredSchedule
    const found = [
      findScheduleNameProblem(definition.name) ?? [],
      findDefinitionProblems(definition),
    ].flat()
    return [...problems, ...found.map(({ path, message }) => `${where}${path}: ${message}`)]
  })
}
