package org.cloister.ctl.site;

import com.google.protobuf.ByteString;
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
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.MalformedException;
import org.cloister.ctl.key.Pem;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.EnrolmentToken;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.transport.tls.PemCredentialFile;

/**
 * File that a person carries to a new host or relay: the machine's name, the relays' addresses, the enrolment token and
 * the certificate with which its holder joins, the site's certificate, and for a relay the site's revocation list;
 * docs/protocol.md, section 6. Its reader can enrol once. Files of version 1 have neither the token certificate nor
 * the list.
 */
final class EnrolmentTokenFile implements AutoCloseable {
    static final int MAX_RELAYS = 16;

    /** A revocation list in base64, and the rest. */
    private static final int MAX_BYTES = (RevocationList.MAX_BYTES + 2) / 3 * 4 + 16 * 1024;

    private static final byte[] FORMAT_1 = ascii("cloister-join-1\n");
    private static final byte[] FORMAT_2 = ascii("cloister-join-2\n");
    private static final byte[] TOKEN = ascii("token=");
    private static final Pattern FIELD = Pattern.compile("(name|relay|token-certificate|list)=([!-~]{1,1500000})");
    private static final int MAX_FIELD = 300;

    private final Contents contents;
    private final EnrolmentToken token;

    /**
     * Public contents of the file.
     *
     * @param relays addresses, HOST:PORT
     * @param siteCertificate of the site's authority, in DER
     * @param tokenCertificate certificate of the token's key, in DER; empty in a file of version 1
     * @param list newest revocation list of the site, in DER; empty if the file has none
     */
    record Contents(
            CertificateName name,
            List<String> relays,
            ByteString siteCertificate,
            ByteString tokenCertificate,
            ByteString list) {
        Contents {
            relays = List.copyOf(relays);
        }
    }

    EnrolmentTokenFile(Contents contents, EnrolmentToken token) {
        this.contents = contents;
        this.token = token;
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

    /** Parses a file, which is accepted in one spelling only. */
    static EnrolmentTokenFile parse(byte[] text) throws IOException {
        if (!isOfThisFormat(text)) {
            throw new MalformedException(
                    "want a token with the site's certificate (cloister-join-2), have another file; "
                            + "make another token by agentctl site enrol, or use this one with agentctl site request");
        }
        FieldLines fields = new FieldLines(startsWith(text, 0, FORMAT_1));
        int from = FORMAT_2.length;
        int end = lineEnd(text, from);
        while (!startsWith(text, from, TOKEN)) {
            fields.add(new String(text, from, end - from, StandardCharsets.ISO_8859_1));
            from = end + 1;
            end = lineEnd(text, from);
        }
        Contents contents = fields.contents(certificate(Arrays.copyOfRange(text, end + 1, text.length)));
        byte[] secret = Arrays.copyOfRange(text, from + TOKEN.length, end);
        try {
            EnrolmentTokenFile file = new EnrolmentTokenFile(contents, EnrolmentToken.parse(secret));
            file.requireSame(text);
            return file;
        } finally {
            Arrays.fill(secret, (byte) 0);
        }
    }

    /** Lines between the format and the token. */
    private static final class FieldLines {
        private final boolean firstVersion;
        private final List<String> names = new ArrayList<>();
        private final List<String> relays = new ArrayList<>();
        private final List<String> tokenCertificates = new ArrayList<>();
        private final List<String> lists = new ArrayList<>();

        FieldLines(boolean firstVersion) {
            this.firstVersion = firstVersion;
        }

        void add(String line) throws MalformedException {
            Matcher field = FIELD.matcher(line);
            if (!field.matches()) {
                throw otherLine();
            }
            boolean isText = field.group(1).equals("name") || field.group(1).equals("relay");
            if (isText ? field.group(2).length() > MAX_FIELD : firstVersion) {
                throw otherLine();
            }
            List<String> values = switch (field.group(1)) {
                case "name" -> names;
                case "relay" -> relays;
                case "token-certificate" -> tokenCertificates;
                default -> lists;
            };
            values.add(field.group(2));
            if (names.size() > 1 || relays.size() > MAX_RELAYS || tokenCertificates.size() > 1 || lists.size() > 1) {
                throw number();
            }
        }

        Contents contents(byte[] siteCertificate) throws IOException {
            if (names.size() != 1 || tokenCertificates.size() != (firstVersion ? 0 : 1)) {
                throw number();
            }
            try {
                relays.forEach(HostPort::parse);
            } catch (IllegalArgumentException e) {
                throw new MalformedException("relay: " + e.getMessage(), e);
            }
            ByteString certificate = decoded("token-certificate", tokenCertificates, CertificateChain.MAX_CERTIFICATE);
            if (!certificate.isEmpty()) {
                PemCredentialFile.certificate(certificate.toByteArray());
            }
            return new Contents(
                    CertificateName.parse(names.get(0)),
                    relays,
                    ByteString.copyFrom(siteCertificate),
                    certificate,
                    decoded("list", lists, RevocationList.MAX_BYTES));
        }

        private MalformedException number() {
            return new MalformedException("token: want one name, at most " + MAX_RELAYS + " relays, "
                    + (firstVersion ? 0 : 1) + " token-certificate and at most one list, have " + names.size() + ", "
                    + relays.size() + ", " + tokenCertificates.size() + " and " + lists.size());
        }

        private static MalformedException otherLine() {
            return new MalformedException(
                    "token: want lines name=, relay=, token-certificate=, list= and token=, have another");
        }

        private static ByteString decoded(String field, List<String> values, int max) throws MalformedException {
            if (values.isEmpty()) {
                return ByteString.EMPTY;
            }
            try {
                return ByteString.copyFrom(BinaryText.fromBase64(values.get(0), max));
            } catch (IllegalArgumentException e) {
                throw new MalformedException(field + ": " + e.getMessage(), e);
            }
        }
    }

    private void requireSame(byte[] text) throws MalformedException {
        byte[] written = text();
        boolean same = Arrays.equals(written, text);
        Arrays.fill(written, (byte) 0);
        if (!same) {
            close();
            throw new MalformedException("token: want the lines in the order in which agentctl site enrol writes "
                    + "them, have another; carry the file as it is");
        }
    }

    private static boolean isOfThisFormat(byte[] text) {
        return startsWith(text, 0, FORMAT_1) || startsWith(text, 0, FORMAT_2);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
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
        StringBuilder head = new StringBuilder("name=" + contents.name + "\n");
        contents.relays.forEach(relay -> head.append("relay=").append(relay).append('\n'));
        if (!contents.tokenCertificate.isEmpty()) {
            head.append("token-certificate=")
                    .append(base64(contents.tokenCertificate))
                    .append('\n');
        }
        if (!contents.list.isEmpty()) {
            head.append("list=").append(base64(contents.list)).append('\n');
        }
        byte[] format = contents.tokenCertificate.isEmpty() ? FORMAT_1 : FORMAT_2;
        byte[] fields = ascii(head.toString());
        byte[] certificate = Pem.write(Pem.CERTIFICATE, siteCertificate());
        byte[] secret = token.text();
        try {
            // Of its size from the start: no other array has had the token.
            ByteBuffer text = ByteBuffer.allocate(
                    format.length + fields.length + TOKEN.length + secret.length + 1 + certificate.length);
            return text.put(format)
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

    private static String base64(ByteString bytes) {
        return BinaryText.base64(bytes.toByteArray());
    }

    CertificateName name() {
        return contents.name;
    }

    List<String> relays() {
        return contents.relays;
    }

    EnrolmentToken token() {
        return token;
    }

    byte[] siteCertificate() {
        return contents.siteCertificate.toByteArray();
    }

    /** Returns the token certificate; empty in a file of version 1. */
    ByteString tokenCertificate() {
        return contents.tokenCertificate;
    }

    /** Returns the site's revocation list; empty if the file has none. */
    ByteString list() {
        return contents.list;
    }

    VerificationKey siteKey() throws IOException {
        return VerificationKey.parse(
                PemCredentialFile.certificate(siteCertificate()).getPublicKey().getEncoded());
    }

    @Override
    public void close() {
        token.close();
    }
}
