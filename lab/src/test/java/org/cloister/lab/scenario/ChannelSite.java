package org.cloister.lab.scenario;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.cloister.lab.guest.ChannelScript;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.identity.Signer;
import org.cloister.protocol.identity.SubjectKey;

/** A site, a project, everybody's certificates, and the relay's process. Whatever of it is the site's or a project's is here. */
final class ChannelSite implements AutoCloseable {
    static final Name RELAY = new Name("r1", "relay", "site");
    static final Name HOST = new Name("n1", "host", "site");
    static final Name DEVICE = new Name("p1", "device", "a");
    static final Name MEMBER = new Name("p1", "member", "a");
    private static final Duration DAY = Duration.ofHours(24);

    final Path folder;
    final int port;
    private final Authority site;
    private final Authority project;
    private final Process relay;

    /** Writes the files of all into the folder, and starts the relay on loopback. */
    ChannelSite(Path folder) throws IOException, GeneralSecurityException {
        this.folder = folder;
        KeyPair siteKey = pair(Curve.P256);
        site = Authority.ofSite(
                key(siteKey), SigningKey.of(siteKey)::sign, Instant.now(), DAY.multipliedBy(30), new SecureRandom());
        KeyPair owner = pair(Curve.P384);
        project = Authority.ofProject(
                "a",
                key(owner),
                Signer.of(owner.getPrivate()),
                Instant.now(),
                DAY.multipliedBy(30),
                new SecureRandom());
        pem(folder.resolve("site.pem"), "CERTIFICATE", site.certificate());
        pem(folder.resolve("a.pem"), "CERTIFICATE", project.certificate());
        Path anchors = Files.createDirectories(folder.resolve("anchors"));
        Files.copy(folder.resolve("site.pem"), anchors.resolve("site.pem"));
        Files.copy(folder.resolve("a.pem"), anchors.resolve("a.pem"));
        certify(RELAY, "relay");
        certify(HOST, "host");
        certify(ChannelScript.NAME, "vm");
        certify(DEVICE, "device");
        certify(MEMBER, "member");
        try (ServerSocket any = new ServerSocket(0)) {
            port = any.getLocalPort();
        }
        Files.writeString(
                folder.resolve("relay.toml"),
                String.join(
                        "\n",
                        List.of(
                                "listen = \"127.0.0.1:" + port + "\"",
                                "certificate = \"" + folder.resolve("relay.pem") + "\"",
                                "key = \"" + folder.resolve("relay.key") + "\"",
                                "anchors = \"" + anchors + "\"",
                                "state = \"" + Files.createDirectories(folder.resolve("state")) + "\"",
                                "socket = \"" + folder.resolve("relay.sock") + "\"",
                                "")));
        relay = java(
                folder.resolve("relay.log"),
                "org.cloister.relay.Main",
                folder.resolve("relay.toml").toString());
    }

    private void certify(Name name, String file) throws IOException, GeneralSecurityException {
        KeyPair pair = pair(Role.of(name.role()).orElseThrow().curve());
        Authority issuer = name.project().equals(Name.SITE) ? site : project;
        pem(folder.resolve(file + ".pem"), "CERTIFICATE", issuer.issue(name, key(pair), Instant.now(), DAY));
        pem(folder.resolve(file + ".key"), "PRIVATE KEY", pair.getPrivate().getEncoded());
    }

    private static void pem(Path file, String what, byte[] der) throws IOException {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
        Files.writeString(file, "-----BEGIN " + what + "-----\n" + text + "\n-----END " + what + "-----\n");
    }

    private static SubjectKey key(KeyPair pair) throws IOException {
        return SubjectKey.of(VerificationKey.parse(pair.getPublic().getEncoded()));
    }

    private static KeyPair pair(Curve curve) throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(curve.standardName()));
        return generator.generateKeyPair();
    }

    /** A process of ours beside this one. */
    static Process java(Path log, String... main) throws IOException {
        List<String> argv = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path")));
        argv.addAll(List.of(main));
        return new ProcessBuilder(argv)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
    }

    String log(String of) throws IOException {
        return Files.readString(folder.resolve(of + ".log"), StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        relay.destroyForcibly();
    }
}
