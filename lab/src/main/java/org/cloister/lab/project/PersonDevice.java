package org.cloister.lab.project;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.cloister.lab.LabCommand;
import org.cloister.lab.relay.RelaySiteFiles;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;

/** A person's own device: a folder with the certificates of the day, and agentctl on its PATH. */
public final class PersonDevice {
    private final RelaySiteFiles site;
    private final int relay;
    private final Path folder;

    /** @param roles which the site's project has certified for the person */
    public PersonDevice(RelaySiteFiles site, int relay, Path folder, String person, List<CertificateRole> roles)
            throws IOException {
        this.site = site;
        this.relay = relay;
        this.folder = Files.createDirectories(folder);
        Path login = Files.createDirectories(at("login"));
        for (CertificateRole role : roles) {
            CertificateName name =
                    new CertificateName(person, role.toString(), site.opener().project());
            Files.copy(site.certificate(name), login.resolve(role + ".pem"));
            Files.copy(site.key(name), login.resolve(role + ".key"));
        }
        writeAgentctl(agentctl());
    }

    /** Writes a program that is agentctl of this checkout, for the person whose home folder HOME is. */
    public static void writeAgentctl(Path program) throws IOException {
        Files.createDirectories(program.getParent());
        Files.writeString(program, """
                #!/bin/sh
                exec %s ${HOME:+"-Duser.home=$HOME"} \
                -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp %s org.cloister.ctl.Agentctl "$@"
                """.formatted(
                Path.of(System.getProperty("java.home"), "bin", "java"), System.getProperty("java.class.path")));
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    public Path at(String name) {
        return folder.resolve(name);
    }

    /** Returns agentctl's path; ssh's ProxyCommand finds it by its name alone. */
    public Path agentctl() {
        return at("bin").resolve("agentctl");
    }

    /** Returns a command as on a terminal of the device. */
    public LabCommand command(List<String> argv) {
        return LabCommand.of(argv)
                .with(Map.of(
                        "XDG_STATE_HOME",
                        at("witness").toString(),
                        "PATH",
                        agentctl().getParent() + ":" + System.getenv("PATH")));
    }

    /** Returns agentctl's options that name the relay, the project and this person. */
    public List<String> relayArguments() {
        return List.of(
                "--project",
                site.genesis().toString(),
                "--site",
                site.siteCertificate().toString(),
                "--relay",
                "127.0.0.1:" + relay,
                "--login",
                at("login").toString());
    }
}
