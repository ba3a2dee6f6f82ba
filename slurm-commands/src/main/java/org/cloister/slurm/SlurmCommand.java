package org.cloister.slurm;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.cloister.base.process.ProcessRunner;

/** Runs one of Slurm's programs, in bounded time and with bounded output. */
public final class SlurmCommand {
    /** One byte is one character, since columns are counted in bytes. */
    private static final ProcessRunner.OutputForm OUTPUT =
            new ProcessRunner.OutputForm(StandardCharsets.ISO_8859_1, 32 << 20, 64 << 10);

    private final Optional<Path> folder;
    private final ProcessRunner programs;
    private final Duration limit;

    /**
     * Configures the runs.
     *
     * @param folder of sbatch and the other programs; found by PATH if empty
     * @param configuration a slurm.conf (SLURM_CONF); the programs' own default if empty
     * @param limit of each run, after which the program is killed
     */
    public SlurmCommand(Optional<Path> folder, Optional<Path> configuration, Duration limit) {
        this.folder = folder;
        this.programs = ProcessRunner.local()
                .withEnvironment(environment(configuration))
                .withOutput(OUTPUT);
        this.limit = limit;
    }

    /** Output and exit status of a program. */
    public record Output(int exit, String out, String err) {
        /** Returns the last line of its errors, without its own name. */
        public String complaint() {
            String error = (err.isBlank() ? out : err)
                    .lines()
                    .filter(line -> !line.isBlank())
                    .reduce("exit status " + exit, (first, last) -> last);
            return LogText.printable(error.replaceFirst("^[a-z]+: (error|fatal): ", ""));
        }
    }

    /** Runs a program like {@link #run}, where any exit status but 0 counts as no answer; returns its output. */
    public String succeed(String program, List<String> arguments) throws SlurmUnavailableException {
        Output output = run(program, arguments, "");
        if (output.exit() != 0) {
            throw new SlurmUnavailableException(program + ": " + output.complaint() + "; ask scontrol ping");
        }
        return output.out();
    }

    /**
     * Runs a program to its end.
     *
     * @throws SlurmUnavailableException if it could not be run, did not end in time or wrote too much; it is then
     *     killed
     */
    public Output run(String program, List<String> arguments, String input) throws SlurmUnavailableException {
        List<String> argv = new ArrayList<>(
                List.of(folder.map(each -> each.resolve(program).toString()).orElse(program)));
        argv.addAll(arguments);
        try {
            ProcessRunner.Output output = programs.run(input, argv, limit);
            return new Output(output.exit(), output.out(), output.err());
        } catch (ProcessRunner.NotStarted e) {
            throw new SlurmUnavailableException(
                    program + ": cannot be run: " + e.getMessage() + "; install Slurm's commands");
        } catch (ProcessRunner.TimedOut e) {
            throw new SlurmUnavailableException(
                    program + ": no answer within " + limit.toSeconds() + " s; ask scontrol ping");
        } catch (IOException e) {
            throw new SlurmUnavailableException(String.valueOf(e.getMessage()));
        }
    }

    /** Only these variables are set: others such as SBATCH_ACCOUNT or SQUEUE_FORMAT act as options. */
    private static Map<String, String> environment(Optional<Path> configuration) {
        Map<String, String> environment = new HashMap<>(Map.of("TZ", "UTC"));
        environment.put("PATH", System.getenv().getOrDefault("PATH", "/usr/bin:/bin"));
        configuration.ifPresent(file -> environment.put("SLURM_CONF", file.toString()));
        return environment;
    }
}
