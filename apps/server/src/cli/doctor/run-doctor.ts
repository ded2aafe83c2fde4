/**
 * What `tutti doctor` does: it looks at everything that a server needs, and changes nothing.
 *
 * H1 Each check is made for itself; one that cannot be made, as another one failed, is left out.
 * H2 No finding shows a secret.
 */
import { redactor } from '@tutti/control-api'
import { errorMessage, TuttiError } from '@tutti/core'
import { setTimeout as wait } from 'node:timers/promises'

import { readClientEnvironment, readEnvironment, type Environment } from '../../environment/env.ts'
import { loadConfig, type LoadedConfig } from '../../config/load-config.ts'
import { sampleConfig } from '../../sample/sample-config.ts'
import { secretsOf } from '../../start/secrets-of.ts'
import { envFileIn, loadProjectEnvFile } from '../dev/load-env-file.ts'
import { neededNode } from '../program-version.ts'
import { askServer, type ServerFacts } from './ask-server.ts'
import { checkAccess } from './check-access.ts'
import { checkBudgets } from './check-budgets.ts'
import { checkDataDirectory, checkRetention } from './check-data-directory.ts'
import { checkEnvFile } from './check-env-file.ts'
import { checkInputs } from './check-inputs.ts'
import { checkModels } from './check-models.ts'
import { checkNode } from './check-node.ts'
import { checkPort } from './check-port.ts'
import { checkPostgres } from './check-postgres.ts'
import { checkVariables } from './check-variables.ts'
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

/** Makes every check that can be made. */
export async function runDoctor(facts: DoctorFacts): Promise<readonly Finding[]> {
  const { variables, cwd } = facts
  const envFile = readEnvFile(cwd)
  const { environment, findings: ofEnvironment } = checkEnvironment(variables)
  const loading = await checkConfig(environment)
  const { config } = loading
  const secrets = redactor(secretsOf(config ?? {}, environment ?? secretsIn(variables)))
  const tried =
    config === undefined || environment === undefined
      ? NOTHING_TRIED
      : await tryStart(config, environment)
  const found = [
    checkNode({
      version: process.versions.node,
      needed: neededNode(),
      configPath: loading.loaded?.path ?? environment?.configPath,
    }),
    ...envFile,
    ...ofEnvironment,
    ...checkVariables(variables),
    ...loading.findings,
    ...(config === undefined ? [] : await checkContents(config, variables)),
    ...tried.findings,
    ...(environment === undefined ? [] : await checkPlace(environment, { config, tried, facts })),
    ...(facts.url === undefined
      ? []
      : (await askServer(facts.url, { ...tried, apiKey: facts.apiKey })).findings),
  ]
  return found.map((finding) => secrets.value(finding))
}

/** Looks at what the config file holds. */
async function checkContents(
  config: TuttiConfig,
  variables: NodeJS.ProcessEnv,
): Promise<readonly Finding[]> {
  return [
    ...checkInputs(config),
    ...checkModels(config, { variables }),
    ...(await checkBudgets(config)),
    checkRetention(config),
  ]
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

function readEnvFile(cwd: string): readonly Finding[] {
  try {
    const before = checkEnvFile(envFileIn(cwd))
    loadProjectEnvFile(cwd)
    return before
  } catch (error) {
    return [findingsOf('.env').problem(errorMessage(error))]
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
  readonly loaded?: LoadedConfig
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
    if (loaded !== undefined) return { config: loaded.config, loaded, findings: [ok(loaded.path)] }
    if (environment === undefined) return { findings: [] }
    const advice = 'Go to the directory of your project, or make one: npm create tutti'
    const notice = 'No tutti.config.ts here: the sample ensembles would be served'
    return { config: sampleConfig(environment), findings: [warning(notice, advice)] }
  } catch (error) {
    return { findings: problemsOf(error).map((text) => problem(text, 'Correct the config file')) }
  }
}

const LATE = Symbol('late')

interface Place {
  readonly config: TuttiConfig | undefined
  readonly tried: TriedStart
  readonly facts: DoctorFacts
}

/** Looks at what is around the server: who may reach it, where it keeps its runs, and its port. */
async function checkPlace(
  environment: Environment,
  { config, tried, facts }: Place,
): Promise<readonly Finding[]> {
  const { databaseUrl, apiKeys } = environment
  const { apiKey = apiKeys.find(({ key }) => key !== undefined)?.key } = readClientEnvironment(
    facts.variables,
  )
  const server: ServerFacts = { apiVersion: tried.apiVersion, apiKey }
  const { findings, isServed } = await checkPort(environment, server)
  const known = { knownVersion: tried.schemaVersion, isServed }
  return [
    ...(config === undefined ? [] : checkAccess(config, environment, Date.now())),
    ...(databaseUrl === undefined
      ? checkDataDirectory(environment.dataDir, known)
      : await checkPostgres({ ...environment, databaseUrl })),
    ...findings,
  ]
}
