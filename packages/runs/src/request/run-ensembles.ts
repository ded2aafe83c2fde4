/** The ensembles that runs may name, and the ensemble that each run gets. */
import { TuttiError } from '@tutti/core'
import { ensemble as defineEnsemble, type Ensemble } from '@tutti/ensemble'
import {
  assertModels,
  describeCode,
  type EnsembleCode,
  type ReviewDefaults,
} from '@tutti/ensemble/internal'
import { unknownName } from '@tutti/protocol/internal'

import { toWholeCode } from '../domain/claim-key.ts'
import { buildRequest, type BuiltRequest } from './build-ensemble.ts'

import type { Catalogs } from './catalog-names.ts'
import type { RunRecord } from '../domain/run-record.ts'

/** Defaults for the reviews of all ensembles. */
export interface ReviewRules extends ReviewDefaults {
  /**
   * Whether a request may remove or relax reviews that the operator requires: those of a task, of a policy, and their
   * timeout, role and action on timeout. @default false: such a request is refused
   */
  readonly allowOverride?: boolean
}

/** A registered ensemble, and its code. */
export interface BuiltEnsemble extends EnsembleCode {
  readonly name: string
}

/** Builds the ensembles of runs. */
export class RunEnsembles {
  readonly #catalogs: Catalogs
  readonly #byName = new Map<string, Ensemble>()
  #built: readonly BuiltEnsemble[] | undefined
  #builtWhole: readonly BuiltEnsemble[] | undefined

  /**
   * @throws {TypeError} without ensembles, or if two have the same name.
   * @throws {TuttiError} CONFIG_INVALID, naming every task of an ensemble that has no model.
   */
  constructor(
    ensembles: readonly Ensemble[],
    { tools, models }: Omit<Catalogs, 'ensembles'>,
    reviews: ReviewRules = {},
  ) {
    this.#catalogs = { tools, models, ensembles: this.#byName }
    for (const ensemble of ensembles) {
      if (this.#byName.has(ensemble.name)) {
        throw new TypeError(`Cannot serve two ensembles named "${ensemble.name}"`)
      }
      assertModels(ensemble)
      this.#byName.set(ensemble.name, withReviewRules(ensemble, reviews))
    }
    if (this.#byName.size === 0) throw new TypeError('Cannot serve runs without an ensemble')
  }

  /** The codes of the registered ensembles; computed once. */
  get built(): readonly BuiltEnsemble[] {
    this.#built ??= this.all.map((ensemble) => ({
      name: ensemble.name,
      ...describeCode(ensemble),
    }))
    return this.#built
  }

  /** The whole codes of the registered ensembles, with the code of each ensemble; computed once. */
  get builtWhole(): readonly BuiltEnsemble[] {
    this.#builtWhole ??= this.built.map(({ name, manifest }) => ({
      name,
      digest: toWholeCode(name, this.codes),
      manifest: { ...manifest, settings: { ...manifest.settings, ensembles: this.codes } },
    }))
    return this.#builtWhole
  }

  /** The digest of the code of each registered ensemble. */
  get codes(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.built.map(({ name, digest }) => [name, digest]))
  }

  /** Returns the code of a registered ensemble, or its whole code; undefined for an unknown name. */
  findBuilt(name: string, isWhole: boolean): BuiltEnsemble | undefined {
    return (isWhole ? this.builtWhole : this.built).find((built) => built.name === name)
  }

  /** The registered ensembles; the first is the default. */
  get all(): readonly Ensemble[] {
    return [...this.#byName.values()]
  }

  /**
   * Finds the registered ensemble of that name, or the default one.
   *
   * @throws {TuttiError} INVALID_ENSEMBLE for an unknown name.
   */
  find(name: string | undefined): Ensemble {
    const [first] = this.#byName.values()
    const found = name === undefined ? first : this.#byName.get(name)
    if (found !== undefined) return found
    const message = unknownName('ensemble', name ?? '', [...this.#byName.keys()])
    throw new TuttiError('INVALID_ENSEMBLE', message)
  }

  /**
   * Builds the ensemble of a run: the registered one with what the run requested. Every process builds the same.
   *
   * @throws {TuttiError} CONFIG_INVALID when the ensemble is no longer registered, and as `buildRequest`.
   */
  build(run: Pick<RunRecord, 'ensemble' | 'request'>): Ensemble {
    return this.buildRequest(run).built
  }

  /** Builds the ensemble of a run, with its tasks before the overrides. @throws as {@link build}. */
  buildRequest({ ensemble, request = {} }: Pick<RunRecord, 'ensemble' | 'request'>): BuiltRequest {
    const template = this.#byName.get(ensemble)
    if (template !== undefined) return buildRequest(template, request, this.#catalogs)
    throw new TuttiError('CONFIG_INVALID', `Ensemble "${ensemble}" is no longer registered`)
  }
}

/** Applies the rules of the operator where an ensemble does not set its own defaults. */
function withReviewRules(
  template: Ensemble,
  { allowOverride: _, ...defaults }: ReviewRules,
): Ensemble {
  if (Object.keys(defaults).length === 0) return template
  return defineEnsemble({ ...template, review: { ...defaults, ...template.review } })
}
