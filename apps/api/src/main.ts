import { type App, createApp } from './app.ts';
import { ConfigError, readConfig } from './config.ts';
import { StartError } from './start-error.ts';
import { createLog } from './log.ts';

/** Starts the server from the environment alone; the `muster serve` command does the same with flags. */
async function main(): Promise<void> {
  let app: App;
  try {
    const config = readConfig(process.env);
    app = await createApp(config, { log: createLog(config.logLevel) });
  } catch (error) {
    if (!(error instanceof ConfigError) && !(error instanceof StartError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(error instanceof ConfigError ? 2 : 1);
  }
  process.stdout.write(`Muster is up: ${app.loginLink()}\n`);
  let stopping = false;
  const stop = (): void => {
    // A second signal does not wait.
    if (stopping) process.exit(1);
    stopping = true;
    app.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}

await main();
