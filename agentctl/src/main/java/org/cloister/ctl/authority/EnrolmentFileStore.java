package org.cloister.ctl.authority;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateName;

/** Stores one file per name, which is replaced as a whole. One process at a time: the caller holds a lock. */
public final class EnrolmentFileStore implements EnrolmentStore {
    private static final String FORMAT = "cloister-enrolment-state-v1";
    private static final String SUFFIX = ".json";
    private static final int MAX_BYTES = 1 << 20;
    private static final int MAX_KEY = 256;
    private static final Pattern SERIAL = Pattern.compile("[0-9a-f]{1,40}");
    private static final Pattern WHY = Pattern.compile("[ -~]{1,400}");
    private static final Pattern CERTIFICATE = Pattern.compile("[A-Za-z0-9+/=]{1,8192}");

    private final Path folder;

    /** @param folder an existing folder */
    public EnrolmentFileStore(Path folder) {
        this.folder = folder;
    }

    @Override
    public Optional<EnrolmentState> find(CertificateName name) throws IOException {
        Path file = file(name);
        byte[] bytes;
        try (InputStream in = Files.newInputStream(file)) {
            bytes = in.readNBytes(MAX_BYTES + 1);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
        try {
            EnrolmentState enrolment = parse(bytes);
            if (!enrolment.name().equals(name)) {
                throw new MalformedException("name: want " + name + ", have " + enrolment.name());
            }
            return Optional.of(enrolment);
        } catch (MalformedException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        }
    }

    @Override
    public List<EnrolmentState> all() throws IOException {
        List<CertificateName> names = new ArrayList<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.sorted().toList()) {
                String name = String.valueOf(file.getFileName());
                if (name.endsWith(SUFFIX)) {
                    names.add(CertificateName.parse(name.substring(0, name.length() - SUFFIX.length())));
                }
            }
        }
        List<EnrolmentState> all = new ArrayList<>();
        for (CertificateName name : names) {
            find(name).ifPresent(all::add);
        }
        return all;
    }

    @Override
    public void store(EnrolmentState enrolment) throws IOException {
        AtomicFile.replace(file(enrolment.name()), json(enrolment));
    }

    private Path file(CertificateName name) {
        return folder.resolve(name + SUFFIX);
    }

    static byte[] json(EnrolmentState enrolment) {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("format", FORMAT)
                .put("name", enrolment.name().toString());
        if (enrolment instanceof EnrolmentState.Open open) {
            json.put("state", "open").put("token", key(open.token())).put("expires", seconds(open.expires()));
        } else if (enrolment instanceof EnrolmentState.Used used) {
            json.put("state", "used").put("token", key(used.token())).put("key", key(used.key()));
            issued(json, "issued", used.issued());
        } else if (enrolment instanceof EnrolmentState.Revoked revoked) {
            json.put("state", "revoked").put("at", seconds(revoked.at())).put("why", revoked.reason());
        }
        issued(json, "tokenCertificate", enrolment.tokenCertificate().stream().toList());
        issued(json, "withdrawn", enrolment.withdrawn());
        return (json.toPrettyString() + "\n").getBytes(StandardCharsets.UTF_8);
    }

    private static void issued(ObjectNode json, String member, List<EnrolmentState.Issued> issued) {
        if (!issued.isEmpty()) {
            var list = json.putArray(member);
            for (EnrolmentState.Issued each : issued) {
                list.addObject()
                        .put("serial", each.serial().toString(16))
                        .put("from", seconds(each.notBefore()))
                        .put("until", seconds(each.notAfter()))
                        .put("certificate", each.certificate());
            }
        }
    }

    public static EnrolmentState parse(byte[] bytes) throws MalformedException {
        StrictJson json = StrictJson.read(bytes, MAX_BYTES);
        json.requireFormat(FORMAT);
        CertificateName name = CertificateName.parse(json.text("name"));
        List<EnrolmentState.Issued> withdrawn = issued(json, "withdrawn", EnrolmentState.MAX_WITHDRAWN);
        String state = json.text("state");
        EnrolmentState enrolment = switch (state) {
            case "open" ->
                new EnrolmentState.Open(
                        name, key(json, "token"), json.time("expires"), tokenCertificate(json), withdrawn);
            case "used" ->
                new EnrolmentState.Used(
                        name,
                        key(json, "token"),
                        key(json, "key"),
                        tokenCertificate(json),
                        issued(json, "issued", EnrolmentState.MAX_WITHDRAWN),
                        withdrawn);
            case "revoked" -> new EnrolmentState.Revoked(name, json.time("at"), json.text("why", WHY), withdrawn);
            default ->
                throw new MalformedException("state: want open, used or revoked, have " + StrictJson.quoted(state));
        };
        json.requireNothingElse();
        return enrolment;
    }

    private static Optional<EnrolmentState.Issued> tokenCertificate(StrictJson json) throws MalformedException {
        return issued(json, "tokenCertificate", 1).stream().findFirst();
    }

    private static List<EnrolmentState.Issued> issued(StrictJson json, String member, int most)
            throws MalformedException {
        List<EnrolmentState.Issued> issued = new ArrayList<>();
        if (json.has(member)) {
            for (StrictJson each : json.objects(member, most)) {
                issued.add(new EnrolmentState.Issued(
                        new BigInteger(each.text("serial", SERIAL), 16),
                        each.time("from"),
                        each.time("until"),
                        each.text("certificate", CERTIFICATE)));
                each.requireNothingElse();
            }
        }
        return issued;
    }

    private static String seconds(Instant time) {
        return time.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    private static String key(VerificationKey key) {
        return BinaryText.base64(key.encoded());
    }

    private static VerificationKey key(StrictJson json, String member) throws MalformedException {
        return VerificationKey.parse(json.base64(member, MAX_KEY));
    }
}
