/**
 * What `tutti doctor` does: it looks at everything that a server needs, and changes nothing.
 *
 * H1 Each check is made for itself; one that cannot be made, as another one failed, is left out.
 * H2 No finding shows a secret.
 */
import { redactor } from '@tutti/control-api'
import { errorMessage, TuttiError } from '@tutti/core'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { parseEnv } from 'node:util'

import { readClientEnvironment, readEnvironment, type Environment } from '../../environment/env.ts'
import { loadConfig } from '../../config/load-config.ts'
import { sampleConfig } from '../../sample/sample-config.ts'
import { secretsOf } from '../../start/secrets-of.ts'
import { envFileIn, loadProjectEnvFile } from '../dev/load-env-file.ts'
import { neededNode } from '../program-version.ts'
import { askServer, type ExpectedServer } from './ask-server.ts'
import { checkAccess } from './check-access.ts'
import { checkBudgets, checkInputs, checkModels, checkVariables } from './check-config.ts'
import { checkDataDirectory, checkRetention } from './check-data-directory.ts'
import { checkNode } from './check-node.ts'
import { checkPort } from './check-port.ts'
import { checkPostgres } from './check-postgres.ts'
import { findingsOf, type Finding } from './finding.ts'
import { tryStart, type TriedStart } from './try-start.ts'

import type { TuttiConfig } from '../../config/config.ts'

/** What the doctor looks at. */
export interface DoctorFacts {
  readonly variables: NodeJS.ProcessEnv
  readonly cwd: string
  /** A server to ask besides the one of this machine. */
  readonly url: string | undefined
  readonly apiKey: string | undefined
}

/** How long the config file may take to load, in milliseconds. */
const LOAD_LIMIT_MS = 15_000

/** What the checks read. A part that is undefined could not be read, which a finding says. */
interface Inspected extends DoctorFacts {
  readonly environment: Environment | undefined
  readonly config: TuttiConfig | undefined
  readonly tried: TriedStart
}

type Check = (inspected: Inspected) => readonly Finding[] | Promise<readonly Finding[]>

/** The checks that read what others have loaded, in the order of their findings. */
const CHECKS: readonly Check[] = [
  ofConfig(checkInputs),
  ofConfig((config, { variables }) => checkModels(config, { variables })),
  ofConfig(checkBudgets),
  ofConfig((config) => [checkRetention(config)]),
  ({ tried }) => tried.findings,
  ofEnvironment(checkSurroundings),
  ({ url, apiKey, tried }) => (url === undefined ? [] : askFindings(url, { ...tried, apiKey })),
]

/** A check that needs the config. */
function ofConfig(check: (config: TuttiConfig, inspected: Inspected) => ReturnType<Check>): Check {
  return (inspected) => (inspected.config === undefined ? [] : check(inspected.config, inspected))
}

/** A check that needs the environment. */
function ofEnvironment(
  check: (environment: Environment, inspected: Inspected) => ReturnType<Check>,
): Check {
  return (inspected) =>
    inspected.environment === undefined ? [] : check(inspected.environment, inspected)
}

/** Makes every check that can be made. */
export async function runDoctor(facts: DoctorFacts): Promise<readonly Finding[]> {
  const { variables, cwd } = facts
  const envFile = readEnvFile(cwd)
  const { environment, findings: environmentFindings } = checkEnvironment(variables)
  const { config, path, findings: configFindings } = await checkConfig(environment)
  const configPath = path ?? environment?.configPath
  const tried =
    config === undefined || environment === undefined
      ? NOTHING_TRIED
      : await tryStart(config, environment)
  const findings = [
    checkNode({ version: process.versions.node, needed: neededNode(), configPath }),
    ...envFile,
    ...environmentFindings,
    ...checkVariables(variables),
    ...configFindings,
  ]
  const inspected = { ...facts, environment, config, tried }
  for (const check of CHECKS) findings.push(...(await check(inspected)))
  const secrets = redactor(secretsOf(config ?? {}, environment ?? secretsIn(variables)))
  return findings.map((finding) => secrets.value(finding))
}

async function askFindings(url: string, server: ExpectedServer): Promise<readonly Finding[]> {
  return (await askServer(url, server)).findings
}

/** The secrets of an environment that cannot be read, by the names of their variables. */
function secretsIn(variables: NodeJS.ProcessEnv): Pick<Environment, 'secrets'> {
  const named = Object.entries(variables).filter(([name]) => SECRET_NAME.test(name))
  return readEnvironment(Object.fromEntries(named))
}

/** Names of variables that hold a secret; none of them can keep an environment from being read. */
const SECRET_NAME = /_(?:KEY|TOKEN|SECRET|PASSWORD)$/i

const NOTHING_TRIED: TriedStart = {
  findings: [],
  schemaVersion: undefined,
  apiVersion: undefined,
}

/** Reads the `.env` of a project, and says what it sets: the names, never the values. */
function readEnvFile(cwd: string): readonly Finding[] {
  const { ok, problem } = findingsOf('.env')
  const path = envFileIn(cwd)
  try {
    if (!existsSync(path)) return []
    const names = Object.keys(parseEnv(readFileSync(path, 'utf8')))
    loadProjectEnvFile(cwd)
    const list = names.length === 0 ? 'nothing' : names.join(', ')
    return [ok(`It sets ${list}; "tutti dev" and this command read it, "tutti start" does not`)]
  } catch (error) {
    return [problem(errorMessage(error))]
  }
}

function checkEnvironment(variables: NodeJS.ProcessEnv) {
  const { ok, problem } = findingsOf('environment')
  try {
    const environment = readEnvironment(variables)
    return { environment, findings: [ok('Every variable fits')] }
  } catch (error) {
    return { environment: undefined, findings: problemsOf(error).map((text) => problem(text)) }
  }
}

/** Each problem that an error names by itself. */
function problemsOf(error: unknown): readonly string[] {
  const details = TuttiError.isInstance(error) ? error.details : undefined
  const problems =
    typeof details === 'object' && details !== null && 'problems' in details
      ? details['problems']
      : undefined
  return Array.isArray(problems) ? problems.map(String) : [errorMessage(error)]
}

interface Loading {
  readonly config?: TuttiConfig
  readonly path?: string
  readonly findings: readonly Finding[]
}

async function checkConfig(environment: Environment | undefined): Promise<Loading> {
  const { ok, warning, problem } = findingsOf('config')
  try {
    const late = wait(LOAD_LIMIT_MS, LATE, { ref: false })
    const loaded = await Promise.race([loadConfig(environment?.configPath), late])
    if (loaded === LATE) {
      return {
        findings: [
          problem('The config file is not loaded after 15 s: something in it does not end'),
        ],
      }
    }
    if (loaded !== undefined) return { ...loaded, findings: [ok(loaded.path)] }
    if (environment === undefined) return { findings: [] }
    const advice = 'Go to the directory of your project, or make one: npm create tutti'
    const notice = 'No tutti.config.ts here: the sample ensembles would be served'
    return { config: sampleConfig(environment), findings: [warning(notice, advice)] }
  } catch (error) {
    return { findings: problemsOf(error).map((text) => problem(text, 'Correct the config file')) }
  }
}

const LATE = Symbol('late')

/** Looks at what is around the server: who may reach it, where it keeps its runs, and its port. */
async function checkSurroundings(
  environment: Environment,
  { config, tried, variables }: Inspected,
): Promise<readonly Finding[]> {
  const { databaseUrl, apiKeys } = environment
  const { apiKey = apiKeys.find(({ key }) => key !== undefined)?.key } =
    readClientEnvironment(variables)
  const { findings, isServed } = await checkPort(environment, { ...tried, apiKey })
  const known = { knownVersion: tried.schemaVersion, isServed }
  return [
    ...(config === undefined ? [] : checkAccess(config, environment, Date.now())),
    ...(databaseUrl === undefined
      ? checkDataDirectory(environment.dataDir, known)
      : await checkPostgres({ ...environment, databaseUrl })),
    ...findings,
  ]
}
