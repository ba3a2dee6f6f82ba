package org.cloister.ctl.site;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateRequest;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.EnrolmentRequest;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Command that enrols the machine on which it runs, as root: over a relay of its token, or else with a request that a
 * person carries; run again, it installs the site's answer.
 */
public abstract class MachineJoinCommand implements Callable<Integer> {
    private final CertificateRole role;

    @Option(
            names = "--token",
            paramLabel = "FILE",
            required = true,
            description = "The token, as agentctl site enrol makes it.")
    @SuppressWarnings("NullAway.Init")
    private Path tokenFile;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "File for the request; by default ID.request in this folder.")
    private @Nullable Path out;

    @Option(
            names = "--certificate",
            paramLabel = "FILE",
            description = "The answer of agentctl site issue; by default the request's name with .pem, if it is there.")
    private @Nullable Path certificate;

    @Option(names = "--config", paramLabel = "FILE", description = "The daemon's configuration, if it is elsewhere.")
    private @Nullable Path config;

    @Option(names = "--daemon", paramLabel = "PROGRAM", description = "The daemon's program, if it is elsewhere.")
    private @Nullable Path program;

    @Option(names = "--user", paramLabel = "NAME", description = "The daemon's user, if it is another one.")
    private @Nullable String user;

    @Option(
            names = "--new-key",
            description = "Make another key, such as after a revocation, instead of one whose certificate is there.")
    private boolean newKey;

    @Option(
            names = "--force",
            description = "Replace also a key whose certificate is valid, and the certificate of another site.")
    private boolean force;

    @Option(names = "--offline", description = "Dial no relay; write a request for agentctl site issue instead.")
    private boolean offline;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    protected MachineJoinCommand(CertificateRole role) {
        this.role = role;
    }

    @Override
    public Integer call() throws IOException {
        Instant now = Instant.now();
        try (EnrolmentTokenFile token = EnrolmentTokenFile.read(tokenFile)) {
            if (!token.name().role().equals(role.toString())) {
                throw new MalformedException(tokenFile + ": want a token of a " + role + ", have one of " + token.name()
                        + "; use agentctl " + token.name().role() + " join");
            }
            Path daemon = program == null ? Path.of("/usr/libexec/cloister/agent-" + role) : program;
            Path configuration = config == null ? Path.of("/etc/cloister/agent-" + role + ".toml") : config;
            JoinedMachine machine = new JoinedMachine(
                    DaemonCredentialFiles.of(daemon, configuration), owner(), token.name(), token.siteKey());
            machine.putSiteCertificate(token.siteCertificate(), force);
            SigningKey key = machine.key(newKey, force, now);
            KeyValueOutput facts = new KeyValueOutput()
                    .with("name", token.name())
                    .with("key", key.verificationKey())
                    .with("site", machine.files().site());
            putRevocationList(facts, token, machine, now);
            Path request = out == null ? Path.of(token.name().id() + ".request") : out;
            Optional<Instant> until = putCertificate(facts, token, machine, key, request, now);
            if (until.isPresent()) {
                facts.with("certificate", machine.files().certificate()).with("until", until.get());
                next(facts, token, configuration);
            }
            output.print(facts);
        }
        return ExitCode.OK.code();
    }

    private static void putRevocationList(
            KeyValueOutput facts, EnrolmentTokenFile token, JoinedMachine machine, Instant now) throws IOException {
        if (!token.list().isEmpty()) {
            Optional<Path> list = machine.putRevocationList(token.list().toByteArray(), now);
            facts.with("list", list.map(Path::toString).orElse("has expired; agentctl site serve delivers another"));
        }
    }

    /**
     * Puts the site's answer in its place: the one of a file, or one that a relay brings. Writes a request for a file
     * if there is neither.
     */
    private Optional<Instant> putCertificate(
            KeyValueOutput facts,
            EnrolmentTokenFile token,
            JoinedMachine machine,
            SigningKey key,
            Path request,
            Instant now)
            throws IOException {
        Optional<Path> answer = answer(request, key.verificationKey(), now);
        if (answer.isPresent()) {
            return Optional.of(machine.putCertificate(answer.get(), key.verificationKey(), now));
        }
        EnrolmentRequest made = EnrolmentRequest.first(CertificateRequest.make(token.name(), key), token.token());
        if (!offline) {
            OnlineEnrolment.Outcome online = requestOnline(
                    token,
                    made,
                    (der, from) -> machine.putCertificate(der, from, key.verificationKey(), Instant.now()));
            if (online.until().isPresent()) {
                return online.until();
            }
            facts.with("online", "no, by files instead: " + online.failure());
        }
        AtomicFile.replace(request, made.json());
        facts.with("request", request)
                .with(
                        "next",
                        "on the administrator's machine: agentctl site issue " + request.getFileName()
                                + "; then put " + request.getFileName() + ".pem beside " + request
                                + " and run this command again");
        return Optional.empty();
    }

    private static OnlineEnrolment.Outcome requestOnline(
            EnrolmentTokenFile token, EnrolmentRequest request, OnlineEnrolment.Installer installer)
            throws IOException {
        if (token.relays().isEmpty()) {
            return new OnlineEnrolment.Outcome(
                    Optional.empty(), "the token names no relay (agentctl site enrol --relay)");
        }
        if (token.tokenCertificate().isEmpty()) {
            return new OnlineEnrolment.Outcome(Optional.empty(), "the token is of an earlier version");
        }
        return new OnlineEnrolment(token, InstantSource.system()).request(request, installer);
    }

    private void next(KeyValueOutput facts, EnrolmentTokenFile token, Path configuration) {
        if (role == CertificateRole.HOST && !token.relays().isEmpty()) {
            facts.with("relays", "[\"" + String.join("\", \"", token.relays()) + "\"] in " + configuration);
        }
        facts.with("next", "rm " + tokenFile + "; systemctl enable --now agent-" + role);
    }

    private Optional<Path> answer(Path request, VerificationKey key, Instant now) throws IOException {
        if (certificate != null) {
            return Optional.of(certificate);
        }
        Path beside = request.resolveSibling(request.getFileName() + ".pem");
        return AtomicFile.exists(beside) && JoinedMachine.isAnswer(beside, key, now)
                ? Optional.of(beside)
                : Optional.empty();
    }

    private UserPrincipal owner() throws IOException {
        String name = user == null ? "cloister-" + role : user;
        try {
            return tokenFile.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName(name);
        } catch (UserPrincipalNotFoundException e) {
            throw new IOException(
                    "user " + name + ": want the daemon's user, have none of this name; install the "
                            + "daemon's package first",
                    e);
        }
    }
}
