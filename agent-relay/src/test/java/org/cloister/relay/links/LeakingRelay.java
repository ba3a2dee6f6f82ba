package org.cloister.relay.links;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.tools.ToolProvider;
import org.cloister.transport.circuit.CircuitSplice;

/** A relay built to leak: its splice, with one line more. */
public final class LeakingRelay {
    private static final String SPLICE = CircuitSplice.class.getName().replace('.', '/') + ".java";
    private static final String PASSED = "meter.onBytes(bytes);";

    private LeakingRelay() {}

    /** @return a class path that has it before the true one */
    public static String make(Path folder) throws IOException {
        String source = Files.readString(Path.of("../transport/src/main/java").resolve(SPLICE));
        assertThat(source).containsOnlyOnce(PASSED);
        Path changed = folder.resolve("source").resolve(SPLICE);
        Files.createDirectories(changed.getParent());
        Files.writeString(
                changed,
                source.replace(PASSED, PASSED + " org.cloister.relay.links.PlaintextLeak.of(data.content());"));
        Path classes = Files.createDirectories(folder.resolve("classes"));
        String path = System.getProperty("java.class.path");
        int status = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-proc:none", "-cp", path, "-d", classes.toString(), changed.toString());
        assertThat(status).as("javac").isZero();
        return classes + ":" + path;
    }
}
