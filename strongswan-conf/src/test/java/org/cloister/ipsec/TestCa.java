package org.cloister.ipsec;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.cloister.ipsec.vici.PrivateKeySource;

/** An authority made with strongSwan's {@code pki}, so that these tests need nothing of ours to be right. */
final class TestCa {
    private final Path folder;
    private final DerCertificate certificate;
    private int issued;

    TestCa(Path folder, String name) throws IOException {
        this.folder = Files.createDirectories(folder.resolve(name));
        Files.write(this.folder.resolve("ca.key"), pki("--gen", "--type", "ecdsa", "--size", "384"));
        byte[] own = pki("--self", "--in", file("ca.key"), "--type", "ecdsa", "--dn", "CN=" + name, "--ca");
        Files.write(this.folder.resolve("ca.crt"), own);
        this.certificate = DerCertificate.parse(own);
    }

    List<DerCertificate> authorities() {
        return List.of(certificate);
    }

    TunnelCredential issue(TunnelIdentity identity) throws IOException {
        return issue(identity, 384, "--lifetime", "1");
    }

    /** @param validity as {@code pki --issue} has it */
    TunnelCredential issue(TunnelIdentity identity, int bits, String... validity) throws IOException {
        String name = "leaf" + ++issued;
        byte[] key = pki("--gen", "--type", "ecdsa", "--size", Integer.toString(bits));
        Files.write(folder.resolve(name + ".key"), key);
        List<String> argv = new ArrayList<>(List.of("--issue", "--in", file(name + ".key"), "--type", "priv"));
        argv.addAll(List.of("--cacert", file("ca.crt"), "--cakey", file("ca.key"), "--dn", "CN=" + name));
        argv.addAll(List.of("--san", identity.toString(), "--digest", "sha384"));
        argv.addAll(List.of(validity));
        byte[] leaf = pki(argv.toArray(String[]::new));
        Files.write(folder.resolve(name + ".crt"), leaf);
        byte[] pkcs8 =
                openssl("pkcs8", "-topk8", "-nocrypt", "-inform", "DER", "-in", file(name + ".key"), "-outform", "DER");
        return new TunnelCredential(DerCertificate.parse(leaf), secret(pkcs8));
    }

    /** The certificate that was issued last is on it. */
    DerRevocationList revokeLast() throws IOException {
        return DerRevocationList.parse(pki(
                "--signcrl",
                "--cacert",
                file("ca.crt"),
                "--cakey",
                file("ca.key"),
                "--cert",
                file("leaf" + issued + ".crt")));
    }

    static PrivateKeySource secret(byte[] pkcs8) {
        return new PrivateKeySource() {
            @Override
            public int length() {
                return pkcs8.length;
            }

            @Override
            public void writeTo(ByteBuffer target) {
                target.put(pkcs8);
            }
        };
    }

    private String file(String name) {
        return folder.resolve(name).toString();
    }

    private byte[] pki(String... arguments) throws IOException {
        List<String> argv = new ArrayList<>(List.of("pki"));
        argv.addAll(List.of(arguments));
        argv.addAll(List.of("--outform", "der"));
        return run(argv);
    }

    private byte[] openssl(String... arguments) throws IOException {
        List<String> argv = new ArrayList<>(List.of("openssl"));
        argv.addAll(List.of(arguments));
        return run(argv);
    }

    private byte[] run(List<String> argv) throws IOException {
        Path errors = folder.resolve("errors");
        Process process =
                new ProcessBuilder(argv).redirectError(errors.toFile()).start();
        process.getOutputStream().close();
        byte[] out = process.getInputStream().readAllBytes();
        try {
            if (!process.waitFor(20, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IOException(argv + ": " + Files.readString(errors, StandardCharsets.UTF_8));
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        return out;
    }
}
