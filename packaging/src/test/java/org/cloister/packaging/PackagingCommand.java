package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A program to run once, with its output and errors read as one text. Nothing of the caller's Java options is passed. */
record PackagingCommand(List<String> words, Map<String, String> environment, Path directory, Duration limit) {
    private static final Duration DEFAULT_LIMIT = Duration.ofMinutes(5);

    static PackagingCommand of(String... words) {
        return new PackagingCommand(List.of(words), Map.of(), Path.of("."), DEFAULT_LIMIT);
    }

    PackagingCommand with(String key, String value) {
        Map<String, String> more = new HashMap<>(environment);
        more.put(key, value);
        return new PackagingCommand(words, Map.copyOf(more), directory, limit);
    }

    PackagingCommand in(Path where) {
        return new PackagingCommand(words, environment, where, limit);
    }

    /** For what takes minutes where nothing else does anything. */
    PackagingCommand within(Duration longer) {
        return new PackagingCommand(words, environment, directory, longer);
    }

    /** A program of the machine's; {@code debianPackage} has it. */
    static void require(String program, String debianPackage) {
        for (String folder : List.of("/usr/bin", "/usr/sbin", "/bin", "/sbin")) {
            if (Files.isExecutable(Path.of(folder, program))) {
                return;
            }
        }
        throw new AssertionError(program + ": no such program on this machine; apt-get install " + debianPackage);
    }

    Result run() throws IOException, InterruptedException {
        Path output = Files.createTempFile("command", ".out");
        try {
            ProcessBuilder builder = new ProcessBuilder(new ArrayList<>(words))
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectInput(new File("/dev/null"))
                    .redirectOutput(output.toFile());
            builder.environment().remove("JAVA_TOOL_OPTIONS");
            builder.environment().remove("JDK_JAVA_OPTIONS");
            builder.environment().remove("JAVA_HOME");
            builder.environment().put("LC_ALL", "C.UTF-8");
            builder.environment().putAll(environment);
            Process process = builder.start();
            if (!process.waitFor(limit.toSeconds(), TimeUnit.SECONDS)) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly().waitFor();
                throw new AssertionError(words + ": still running after " + limit.toSeconds() + " s, ended\n"
                        + Files.readString(output, StandardCharsets.UTF_8));
            }
            return new Result(words, process.exitValue(), Files.readString(output, StandardCharsets.UTF_8));
        } finally {
            Files.delete(output);
        }
    }

    /** The output of a run that must exit with 0. */
    String text() throws IOException, InterruptedException {
        Result result = run();
        assertThat(result.status())
                .as("exit status of %s, which said:%n%s", words, result.text())
                .isZero();
        return result.text();
    }

    List<String> lines() throws IOException, InterruptedException {
        return text().lines().toList();
    }

    record Result(List<String> words, int status, String text) {}
}
