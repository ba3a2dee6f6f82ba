package org.cloister.ctl.project;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.EnumSet;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.LoginFolder;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.identity.ProjectHistory;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code agentctl project login}: creates a person's certificates of the day. */
@Command(
        name = "login",
        description = "Makes new keys and certificates of 24 hours for this device and for each of the "
                + "person's roles, in a folder in memory. They replace the former ones.")
final class ProjectLoginCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init")
    private ProjectOption of;

    @Option(
            names = "--certificate",
            paramLabel = "FILE",
            description = "The person's certificate, written by agentctl project member; default: the profile's; "
                    + "an owner without one omits it.")
    private @Nullable Path certificate;

    @Option(
            names = "--folder",
            paramLabel = "DIR",
            description = "Folder for them, on a tmpfs; default: $XDG_RUNTIME_DIR/cloister/PROJECT.")
    private @Nullable Path named;

    @Option(
            names = "--stay",
            description = "Keep running and make new ones whenever half of their lifetime has passed, until "
                    + "stopped or until the person's own certificate expires.")
    private boolean stay;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SigningKeyOptions keys;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        ProjectHistory project = of.readHistory();
        LoginFolder folder = named == null
                ? LoginFolder.defaultFolder(System.getenv("XDG_RUNTIME_DIR"), project.id())
                : new LoginFolder(named);
        folder.prepare();
        CertificateIssuer issuer = CertificateIssuer.of(project, of.certificate(certificate), keys.open(of::key));
        Duration lifetime = login(project, issuer, folder);
        while (stay && sleep(lifetime.dividedBy(2))) {
            lifetime = login(project, issuer, folder);
        }
        return ExitCode.OK.code();
    }

    /**
     * Creates certificates for the device and each of the person's roles.
     *
     * @return the lifetime of the certificates
     */
    private Duration login(ProjectHistory project, CertificateIssuer issuer, LoginFolder folder) throws IOException {
        Instant now = Instant.now();
        PersonLogin login = PersonLogin.create(project, issuer, folder, now);
        output.print(new KeyValueOutput()
                .with("project", project.id())
                .with("person", issuer.id())
                .with("roles", EnumSet.copyOf(login.roles()))
                .with("until", now.plus(login.lifetime()).truncatedTo(ChronoUnit.SECONDS))
                .with("folder", folder.path()));
        return login.lifetime();
    }

    /**
     * Sleeps by the wall clock, which continues while a laptop is suspended.
     *
     * @return false if the thread was interrupted
     */
    private static boolean sleep(Duration time) {
        Instant end = Instant.now().plus(time);
        while (Instant.now().isBefore(end)) {
            try {
                Thread.sleep(1000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
        return true;
    }
}
