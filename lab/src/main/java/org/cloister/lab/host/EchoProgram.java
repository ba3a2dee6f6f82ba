package org.cloister.lab.host;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.cloister.lab.LabCommand;
import org.cloister.lab.relay.ChildProcess;
import org.cloister.lab.relay.RelaySiteFiles;

/** {@link TlsEcho} with agent-host's options, Netty as its package has it, and a class archive made in the same way. */
public final class EchoProgram {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final String JAVA = "/usr/bin/java";
    private static final List<String> OPTIONS = List.of(
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Xms16m",
            "-Xmx256m",
            "-Xss512k",
            "-XX:-UsePerfData",
            "-Dio.netty.jfr.enabled=false",
            "-Xshare:auto");
    private static final List<String> CLASSES = List.of("TlsEcho", "TlsEcho$1", "TlsEcho$Echo");

    private final RelaySiteFiles site;
    private final Path folder;
    private final String classPath;

    private EchoProgram(RelaySiteFiles site, Path folder, String classPath) {
        this.site = site;
        this.folder = folder;
        this.classPath = classPath;
    }

    /** @param folder its own */
    public static EchoProgram create(RelaySiteFiles site, Path folder) throws IOException {
        // A class archive needs jars.
        Path own = folder.resolve("echo.jar");
        try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(own))) {
            for (String each : CLASSES) {
                String name = "org/cloister/lab/host/" + each + ".class";
                jar.putNextEntry(new JarEntry(name));
                try (InputStream in = EchoProgram.class.getResourceAsStream(each + ".class")) {
                    jar.write(in.readAllBytes());
                }
            }
        }
        Path jars = Path.of("packaging/target/host-root/usr/share/cloister/agent-host")
                .toAbsolutePath();
        String classPath;
        try (Stream<Path> all = Files.list(jars)) {
            classPath = Stream.concat(
                            Stream.of(own),
                            all.filter(each -> each.getFileName().toString().matches("(netty|slf4j)-.*[.]jar"))
                                    .sorted())
                    .map(Path::toString)
                    .collect(Collectors.joining(":"));
        }
        EchoProgram program = new EchoProgram(site, folder, classPath);
        program.archive();
        return program;
    }

    private void archive() throws IOException {
        Path list = folder.resolve("echo.classes");
        List<String> check = argv("-XX:DumpLoadedClassList=" + list, ChildProcess.port());
        check.set(check.indexOf("-Xshare:auto"), "-Xshare:off");
        check.add("check");
        LabCommand.of(check).within(LIMIT).succeed();
        LabCommand.of(
                        JAVA,
                        "-XX:+UseG1GC",
                        "-Xshare:dump",
                        "-XX:SharedClassListFile=" + list,
                        "-XX:SharedArchiveFile=" + file(),
                        "-cp",
                        classPath)
                .within(LIMIT)
                .succeed();
    }

    public List<String> argv(int port) {
        return argv("-XX:SharedArchiveFile=" + file(), port);
    }

    private List<String> argv(String option, int port) {
        List<String> argv = new ArrayList<>(List.of(JAVA));
        argv.addAll(OPTIONS);
        argv.addAll(List.of(option, "-cp", classPath, TlsEcho.class.getName()));
        argv.addAll(List.of(
                site.certificate(RelaySiteFiles.RELAY).toString(),
                site.key(RelaySiteFiles.RELAY).toString(),
                Integer.toString(port)));
        return argv;
    }

    private Path file() {
        return folder.resolve("echo.jsa");
    }
}
