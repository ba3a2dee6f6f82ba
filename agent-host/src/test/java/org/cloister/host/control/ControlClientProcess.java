package org.cloister.host.control;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@link ControlClientProgram} as a process. */
final class ControlClientProcess implements AutoCloseable {
    private final Process process;
    private final BufferedReader out;
    private final Writer in;

    private ControlClientProcess(Process process) {
        this.process = process;
        this.out = process.inputReader();
        this.in = process.outputWriter();
    }

    /** @param as words before the command, such as setpriv's; none for a caller of the test's own user */
    static ControlClientProcess start(Path socket, String... as) throws IOException {
        List<String> argv = new ArrayList<>(List.of(as));
        argv.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx32m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                classes(socket).toString(),
                ControlClientProgram.class.getName(),
                socket.toString()));
        return new ControlClientProcess(new ProcessBuilder(argv)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    /** The program alone, beside the socket: who may reach that one need not be able to read the checkout. */
    private static Path classes(Path socket) throws IOException {
        Path classes = socket.resolveSibling("classes");
        String name = ControlClientProgram.class.getName().replace('.', '/') + ".class";
        Path copy = classes.resolve(name);
        Files.createDirectories(copy.getParent());
        try (InputStream in = ControlClientProgram.class.getClassLoader().getResourceAsStream(name)) {
            Files.copy(in, copy, StandardCopyOption.REPLACE_EXISTING);
        }
        return classes;
    }

    long pid() {
        return process.pid();
    }

    ControlClientProcess send(String line) throws IOException {
        in.write(line + "\n");
        in.flush();
        return this;
    }

    /** @return null at the end */
    @Nullable
    String receive() throws IOException {
        return out.readLine();
    }

    /** All that comes until the end. */
    List<String> remaining() {
        return out.lines().toList();
    }

    void kill() throws InterruptedException {
        process.toHandle().destroyForcibly();
        process.waitFor();
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly().onExit().join();
        out.close();
    }
}
