/** The entry point of the thread of the embedded store. */
import { parentPort, workerData } from 'node:worker_threads'

import { serveStore } from './serve-store.ts'

if (parentPort === null) throw new Error('The thread of the run store is not a program')
serveStore(parentPort, workerData)
