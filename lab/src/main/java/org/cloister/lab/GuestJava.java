package org.cloister.lab;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Project classes and the libraries they need, copied into a guest's memory and run there by its Java. */
public final class GuestJava {
    private static final String FOLDER = "/run/cloister-lab-java";
    private static final Duration LIMIT = Duration.ofMinutes(4);

    private final LabVm vm;

    private GuestJava(LabVm vm) {
        this.vm = vm;
    }

    /** @param entries selects entries of this process's class path, by a part of the path; folders are packed */
    public static GuestJava install(LabVm vm, Pattern entries) throws IOException {
        vm.succeed("mkdir", "-p", FOLDER);
        int number = 0;
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            Path path = Path.of(entry);
            if (entries.matcher(entry).find() && Files.exists(path)) {
                byte[] jar = Files.isDirectory(path) ? packed(path) : Files.readAllBytes(path);
                writeFile(vm, FOLDER + "/" + number++ + ".jar", jar);
            }
        }
        return new GuestJava(vm);
    }

    /** Writes a file in the guest. */
    public static void writeFile(LabVm vm, String file, byte[] content) throws IOException {
        LabCommand.Output output = vm.run(List.of("sh", "-c", "cat >\"$1\"", "put", file), content, LIMIT);
        if (output.exit() != 0) {
            throw new LabException(
                    vm.name() + ": " + file + ": " + output.err().strip(), "see the guest's free memory");
        }
    }

    /** Runs a class with the daemons' Java options, and returns its output. */
    public String run(Class<?> main, String input, Duration limit, String... arguments) throws IOException {
        LabCommand.Output output = vm.run(argv(main, arguments), input.getBytes(StandardCharsets.UTF_8), limit);
        if (output.exit() != 0) {
            throw new LabException(
                    vm.name() + ": " + main.getSimpleName() + ": exit " + output.exit() + ": "
                            + (output.err() + output.out()).strip(),
                    "read " + vm.consoleFile());
        }
        return output.out();
    }

    /**
     * Runs a class as a unit of the guest would run it: with that unit's capabilities, calls and limits, and no others.
     *
     * @param unit such as {@code agent-vm.service}, which keeps running
     * @param settings that differ for this run, a line each
     */
    public String runAs(String unit, List<String> settings, Class<?> main, Duration limit, String... arguments)
            throws IOException {
        String text = "[Service]\nType=oneshot\nRestart=no\nExecCondition=\nExecStart=\nExecStart=/usr/bin/"
                + String.join(" ", argv(main, arguments)) + "\n" + String.join("\n", settings)
                + "\nStandardOutput=truncate:" + FOLDER + "/out\nStandardError=truncate:" + FOLDER + "/err\n";
        List<String> start = List.of("sh", "-c", """
                cp /usr/lib/systemd/system/"$1" /run/systemd/system/lab-"$1"
                mkdir -p /run/systemd/system/lab-"$1".d
                cat >/run/systemd/system/lab-"$1".d/lab.conf
                systemctl daemon-reload
                systemctl start lab-"$1"
                ended=$?
                cat "$2/out"
                tail -n 40 "$2/err" >&2
                exit $ended
                """, "start", unit, FOLDER);
        LabCommand.Output output = vm.run(start, text.getBytes(StandardCharsets.UTF_8), limit);
        if (output.exit() != 0) {
            throw new LabException(
                    vm.name() + ": " + main.getSimpleName() + " as " + unit + ": exit " + output.exit() + ": "
                            + (output.err() + output.out()).strip(),
                    "read " + vm.consoleFile());
        }
        return output.out();
    }

    /**
     * Starts a class in the background; it runs until the guest ends.
     *
     * @param input a pipe of the guest's, made here
     * @param output a file of the guest's
     */
    public void start(Class<?> main, String input, String output, String... arguments) throws IOException {
        List<String> argv = new ArrayList<>(List.of(
                "sh",
                "-c",
                "mkfifo -m 600 \"$1\"; in=$1 out=$2; shift 2; setsid \"$@\" <>\"$in\" >\"$out\" 2>&1 &",
                "start",
                input,
                output));
        argv.addAll(argv(main, arguments));
        vm.succeed(argv.toArray(String[]::new));
    }

    /** Disables Netty's events for the flight recorder, whose classes a guest under emulation loads slowly. */
    private static List<String> argv(Class<?> main, String... arguments) {
        List<String> argv = new ArrayList<>(
                List.of("java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dio.netty.jfr.enabled=false"));
        argv.addAll(List.of("-cp", FOLDER + "/*", main.getName()));
        argv.addAll(List.of(arguments));
        return argv;
    }

    private static byte[] packed(Path folder) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JarOutputStream jar = new JarOutputStream(bytes);
                Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                jar.putNextEntry(new JarEntry(folder.relativize(file).toString()));
                jar.write(Files.readAllBytes(file));
                jar.closeEntry();
            }
        }
        return bytes.toByteArray();
    }
}
