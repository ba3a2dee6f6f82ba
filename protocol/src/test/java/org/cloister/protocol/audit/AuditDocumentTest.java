package org.cloister.protocol.audit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.encoding.BinaryText;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.VerificationKey;
import org.junit.jupiter.api.Test;

/** Holds section 14 of docs/protocol.md, its vectors and its tables, against the code. */
class AuditDocumentTest {
    private static final Pattern VECTORS = Pattern.compile("```vectors\n(.*?)```", Pattern.DOTALL);
    private static final Pattern ROW = Pattern.compile("\n\\| `([A-Za-z-]+)` \\|");
    private static final int LINES = 5;

    private final String document;
    private final String section;
    private final Map<String, String> vectors = new HashMap<>();

    AuditDocumentTest() throws IOException {
        document = Files.readString(
                Path.of(System.getProperty("cloister.root", "..")).resolve("docs/protocol.md"));
        int from = document.indexOf("\n## 14. The audit chain\n");
        section = document.substring(from, document.indexOf("\n## ", from + 1));
        Matcher block = VECTORS.matcher(section);
        assertThat(block.find()).isTrue();
        block.group(1).lines().forEach(line -> {
            int colon = line.indexOf(": ");
            vectors.put(line.substring(0, colon), line.substring(colon + 2));
        });
    }

    private String text(String name) {
        assertThat(vectors).containsKey(name);
        return vectors.getOrDefault(name, "");
    }

    private byte[] bytes(String name) {
        return text(name).getBytes(StandardCharsets.UTF_8);
    }

    private List<String> rows(String head) {
        int from = section.indexOf("\n| " + head + " | ");
        List<String> rows = new ArrayList<>();
        Matcher matcher = ROW.matcher(section.substring(from, section.indexOf("\n\n", from + 1)));
        while (matcher.find()) {
            rows.add(matcher.group(1));
        }
        return rows;
    }

    @Test
    void the_chain_comes_to_the_hashes_that_the_document_gives() throws Exception {
        AuditHashChain chain = new AuditHashChain(AuditHashChain.EMPTY);
        for (int i = 1; i <= LINES; i++) {
            AuditLine.parse(bytes("line-" + i));
            chain.add(bytes("line-" + i));
            assertThat(chain.value().hex()).isEqualTo(text("hash-" + i));
        }
    }

    @Test
    void the_log_holds_and_its_last_head_is_what_the_witness_kept() throws Exception {
        StringBuilder log = new StringBuilder();
        for (int i = 1; i <= LINES; i++) {
            log.append(text("line-" + i)).append('\n');
        }
        byte[] segment = log.toString().getBytes(StandardCharsets.UTF_8);
        AuditSegmentHeader start = (AuditSegmentHeader) AuditLine.parse(bytes("line-1"));
        assertThat(start.key().id()).isEqualTo(text("relay-key-id"));
        AuditVerification verification = new AuditLogVerifier(Set.of(start.key()), 1)
                .verify(
                        List.of(new AuditSegment("vectors", () -> new ByteArrayInputStream(segment))),
                        List.of(new WitnessedAuditHead("witness", bytes("witnessed"))));
        assertThat(verification.findings()).isEmpty();
        assertThat(new String(verification.newest().orElseThrow().head().payload(), StandardCharsets.UTF_8))
                .isEqualTo(text("head-payload"));
        VerificationKey witness = VerificationKey.parse(BinaryText.fromBase64(text("witness-key"), 256));
        assertThat(DsseEnvelope.parse(bytes("witnessed"), AuditHead.MAX_BYTES)
                        .verify(AuditHead.TYPE, Set.of(start.key(), witness), 2))
                .isEqualTo(bytes("head-payload"));
    }

    @Test
    void a_record_of_counted_refusals_is_the_one_of_section_13() throws Exception {
        Matcher vector = Pattern.compile("```vector refused-record\n(.*?)\n```", Pattern.DOTALL)
                .matcher(document);
        assertThat(vector.find()).isTrue();
        byte[] line = vector.group(1).getBytes(StandardCharsets.UTF_8);
        AuditRecord read = (AuditRecord) AuditLine.parse(line);
        AuditEvent event = AuditEvent.of(Instant.parse("2026-06-02T09:31:00Z"), "ticket.refused")
                .numbered(18)
                .by("fiai6vuw64hscmgnixyru7gtgl6jwpfkuela6gavkaw35zxolk6a")
                .with(AuditField.PROJECT, "rusplpakqwgqfrrfvuxokzinsr4whpbqq3xmvfesn5i2qkkrlhza")
                .with(AuditField.CLAUSE, "quota")
                .with(AuditField.COUNT, 1200)
                .with(AuditField.SINCE, "2026-06-02T09:30:04Z");
        assertThat(AuditRecord.of(3, event)).isEqualTo(read);
        assertThat(AuditRecord.of(3, event).line()).isEqualTo(line);
    }

    @Test
    void facts_and_findings_are_those_of_the_tables() {
        assertThat(rows("fact"))
                .containsExactlyElementsOf(Arrays.stream(AuditField.values())
                        .map(AuditField::member)
                        .toList());
        assertThat(rows("finding"))
                .containsExactlyElementsOf(Arrays.stream(AuditFinding.Kind.values())
                        .map(kind -> kind.name().toLowerCase(Locale.ROOT).replace('_', '-'))
                        .toList());
    }
}
