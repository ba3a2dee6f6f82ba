package org.cloister.ctl.site;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.address.HostPort;
import org.cloister.base.encoding.MalformedException;
import org.cloister.ctl.key.Pem;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.EnrolmentToken;
import org.cloister.transport.tls.PemCredentialFile;

/**
 * File that a person carries to a new host or relay: the machine's name, the relays' addresses, the enrolment token and
 * the site's certificate; docs/protocol.md, section 6. Its reader can enrol once.
 */
final class EnrolmentTokenFile implements AutoCloseable {
    static final int MAX_BYTES = 16 * 1024;
    static final int MAX_RELAYS = 16;

    private static final byte[] FORMAT = "cloister-join-1\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] TOKEN = "token=".getBytes(StandardCharsets.US_ASCII);
    private static final Pattern FIELD = Pattern.compile("(name|relay)=([!-~]{1,300})");

    private final CertificateName name;
    private final List<String> relays;
    private final EnrolmentToken token;
    private final byte[] siteCertificate;

    /**
     * @param relays addresses, HOST:PORT
     * @param siteCertificate of the site's authority, in DER
     */
    EnrolmentTokenFile(CertificateName name, List<String> relays, EnrolmentToken token, byte[] siteCertificate) {
        this.name = name;
        this.relays = List.copyOf(relays);
        this.token = token;
        this.siteCertificate = siteCertificate.clone();
    }

    static EnrolmentTokenFile read(Path file) throws IOException {
        byte[] text = Pem.readBounded(file, MAX_BYTES);
        try {
            return parse(text);
        } catch (MalformedException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        } finally {
            Arrays.fill(text, (byte) 0);
        }
    }

    /** Reads the token of such a file, or of a file with nothing but a token. */
    static EnrolmentToken readToken(Path file) throws IOException {
        byte[] text = Pem.readBounded(file, MAX_BYTES);
        try {
            return isOfThisFormat(text) ? parse(text).token : EnrolmentToken.parse(text);
        } catch (MalformedException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        } finally {
            Arrays.fill(text, (byte) 0);
        }
    }

    static EnrolmentTokenFile parse(byte[] text) throws IOException {
        if (!isOfThisFormat(text)) {
            throw new MalformedException(
                    "want a token with the site's certificate (cloister-join-1), have another file; "
                            + "make another token by agentctl site enrol, or use this one with agentctl site request");
        }
        List<String> names = new ArrayList<>();
        List<String> relays = new ArrayList<>();
        int from = FORMAT.length;
        int end = lineEnd(text, from);
        while (!startsWith(text, from, TOKEN)) {
            Matcher field = FIELD.matcher(new String(text, from, end - from, StandardCharsets.ISO_8859_1));
            if (!field.matches()) {
                throw new MalformedException("token: want lines name=, relay= and token=, have another");
            }
            (field.group(1).equals("name") ? names : relays).add(field.group(2));
            from = end + 1;
            end = lineEnd(text, from);
        }
        if (names.size() != 1 || relays.size() > MAX_RELAYS) {
            throw new MalformedException("token: want one name and at most " + MAX_RELAYS + " relays, have "
                    + names.size() + " and " + relays.size());
        }
        try {
            relays.forEach(HostPort::parse);
        } catch (IllegalArgumentException e) {
            throw new MalformedException("relay: " + e.getMessage(), e);
        }
        byte[] certificate = certificate(Arrays.copyOfRange(text, end + 1, text.length));
        byte[] secret = Arrays.copyOfRange(text, from + TOKEN.length, end);
        try {
            return new EnrolmentTokenFile(
                    CertificateName.parse(names.get(0)), relays, EnrolmentToken.parse(secret), certificate);
        } finally {
            Arrays.fill(secret, (byte) 0);
        }
    }

    private static boolean isOfThisFormat(byte[] text) {
        return startsWith(text, 0, FORMAT);
    }

    private static boolean startsWith(byte[] text, int from, byte[] prefix) {
        return text.length - from >= prefix.length
                && Arrays.equals(text, from, from + prefix.length, prefix, 0, prefix.length);
    }

    private static int lineEnd(byte[] text, int from) throws MalformedException {
        for (int i = from; i < text.length; i++) {
            if (text[i] == '\n') {
                return i;
            }
        }
        throw new MalformedException("token: want a line token= and a certificate, have an end before");
    }

    /** Accepts one encoding only, so that nothing can be behind the certificate. */
    private static byte[] certificate(byte[] pem) throws IOException {
        byte[] der = Pem.read(pem, Pem.CERTIFICATE);
        if (!Arrays.equals(pem, Pem.write(Pem.CERTIFICATE, der))) {
            throw new MalformedException("token: want the site's certificate in PEM as the last lines, have more");
        }
        PemCredentialFile.certificate(der);
        return der;
    }

    /** Returns the file's content; the caller zeroes it. */
    byte[] text() {
        StringBuilder head = new StringBuilder("name=" + name + "\n");
        relays.forEach(relay -> head.append("relay=").append(relay).append('\n'));
        byte[] fields = head.toString().getBytes(StandardCharsets.US_ASCII);
        byte[] certificate = Pem.write(Pem.CERTIFICATE, siteCertificate);
        byte[] secret = token.text();
        try {
            // Of its size from the start: no other array has had the token.
            ByteBuffer text = ByteBuffer.allocate(
                    FORMAT.length + fields.length + TOKEN.length + secret.length + 1 + certificate.length);
            return text.put(FORMAT)
                    .put(fields)
                    .put(TOKEN)
                    .put(secret)
                    .put((byte) '\n')
                    .put(certificate)
                    .array();
        } finally {
            Arrays.fill(secret, (byte) 0);
        }
    }

    CertificateName name() {
        return name;
    }

    List<String> relays() {
        return relays;
    }

    EnrolmentToken token() {
        return token;
    }

    byte[] siteCertificate() {
        return siteCertificate.clone();
    }

    VerificationKey siteKey() throws IOException {
        return VerificationKey.parse(
                PemCredentialFile.certificate(siteCertificate).getPublicKey().getEncoded());
    }

    @Override
    public void close() {
        token.close();
    }
}
