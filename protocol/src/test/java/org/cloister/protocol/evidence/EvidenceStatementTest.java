package org.cloister.protocol.evidence;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Base64;
import org.cloister.base.encoding.MalformedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EvidenceStatementTest {
    private final EvidenceFixture world = new EvidenceFixture();

    @Test
    void what_is_written_is_read_again() throws Exception {
        world.attachments.add(new PlatformEvidence(PlatformEvidence.TPM2_QUOTE, "AAAA"));
        EvidenceStatement statement = world.statement();
        assertThat(EvidenceStatement.parse(statement.json())).isEqualTo(statement);
    }

    /** Each member gone, renamed, and with a value of another kind. */
    @Test
    void every_member_counts() {
        String json = new String(world.statement().json(), UTF_8);
        for (String member : new String[] {
            "format",
            "project",
            "host",
            "vm",
            "role",
            "ticket",
            "slot",
            "image",
            "shape",
            "cpus",
            "memoryMib",
            "scratchMib",
            "sharing",
            "keys",
            "signing",
            "sealing",
            "nonce",
            "binding",
            "type",
            "value",
            "issued"
        }) {
            String name = "\"" + member + "\":";
            assertThat(json).contains(name);
            for (String other : new String[] {"\"x" + member + "\":", name + "null,\"x\":", name + "[],\"x\":"}) {
                String broken = json.replace(name, other);
                assertThatThrownBy(() -> EvidenceStatement.parse(broken.getBytes(UTF_8)))
                        .as(other)
                        .isInstanceOf(MalformedException.class)
                        .hasMessageContaining(member);
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"slot\":3|\"slot\":-1",
                "\"slot\":3|\"slot\":65536",
                "\"slot\":3|\"slot\":3.0",
                "\"slot\":3|\"slot\":3,\"slot\":3",
                "\"cpus\":16|\"cpus\":0",
                "\"cpus\":16|\"cpus\":4097",
                "\"role\":\"worker\"|\"role\":\"WORKER\"",
                "\"sharing\":\"none\"|\"sharing\":\"\"",
                "tls-certificates|tls-exporter",
                "2026-06-01T12:00:00Z|2026-06-01T12:00:00.0Z",
                "2026-06-01T12:00:00Z|2026-06-01T12:00:00+00:00",
                "2026-06-01T12:00:00Z|2026-02-30T12:00:00Z",
                "2026-06-01T12:00:00Z|2026-06-01T24:00:00Z",
                "cloister-evidence-v1|cloister-evidence-v2",
            })
    void refuses(String whole, String broken) {
        String json = new String(world.statement().json(), UTF_8);
        assertThat(json).contains(whole);
        assertThatThrownBy(() ->
                        EvidenceStatement.parse(json.replace(whole, broken).getBytes(UTF_8)))
                .isInstanceOf(MalformedException.class);
    }

    @Test
    void boot_keys_are_two() {
        AttestationClaims claim = world.claim();
        assertThatThrownBy(() ->
                        new BootPublicKeys(claim.keys().signing(), claim.keys().signing()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("want two keys");
        assertThatThrownBy(() -> new BootPublicKeys(
                        claim.keys().signing(), world.expectation().host()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("P384 and P256");
    }

    @Test
    void a_binding_tells_its_ends_apart() {
        byte[] a = "a".getBytes(US_ASCII);
        byte[] b = "b".getBytes(US_ASCII);
        assertThat(CircuitBinding.of(a, b))
                .isEqualTo(CircuitBinding.of(a, b))
                .isNotEqualTo(CircuitBinding.of(b, a))
                .isNotEqualTo(CircuitBinding.of(a, a));
    }

    @Test
    void attachments_have_a_limit_each_and_together() throws Exception {
        String most = Base64.getEncoder().encodeToString(new byte[EvidenceStatement.MAX_ATTACHMENT]);
        for (int i = 0; i < EvidenceStatement.MAX_ATTACHMENTS; i++) {
            world.attachments.add(new PlatformEvidence(PlatformEvidence.SEV_SNP_REPORT, most));
        }
        assertThat(EvidenceStatement.parse(world.statement().json()).attachments())
                .hasSize(EvidenceStatement.MAX_ATTACHMENTS);
        world.attachments.add(new PlatformEvidence(PlatformEvidence.SEV_SNP_REPORT, "AAAA"));
        assertThatThrownBy(() -> EvidenceStatement.parse(world.statement().json()))
                .isInstanceOf(MalformedException.class);
        world.attachments.clear();
        world.attachments.add(new PlatformEvidence(
                PlatformEvidence.SEV_SNP_REPORT,
                Base64.getEncoder().encodeToString(new byte[EvidenceStatement.MAX_ATTACHMENT + 1])));
        assertThatThrownBy(() -> EvidenceStatement.parse(world.statement().json()))
                .isInstanceOf(MalformedException.class);
    }

    /** Each object has a list of its own, of its own members. */
    @Test
    void critical_holds_in_every_object() throws Exception {
        String json = new String(world.statement().json(), UTF_8);
        for (String first : new String[] {"\"format\"", "\"signing\"", "\"cpus\"", "\"type\""}) {
            String known = json.replace("{" + first, "{\"x\":1," + first);
            assertThat(EvidenceStatement.parse(known.getBytes(UTF_8))).isEqualTo(world.statement());
            String critical = known.replace("\"x\":1,", "\"x\":1,\"critical\":[\"x\"],");
            assertThatThrownBy(() -> EvidenceStatement.parse(critical.getBytes(UTF_8)))
                    .isInstanceOf(MalformedException.class)
                    .hasMessageContaining("x: critical, and unknown to this version");
            for (String list : new String[] {"[]", "\"x\"", "[1]", "[\"x\",\"x\"]", "[\"y\"]", "[\"a b\"]"}) {
                String broken = known.replace("\"x\":1,", "\"x\":1,\"critical\":" + list + ",");
                assertThatThrownBy(() -> EvidenceStatement.parse(broken.getBytes(UTF_8)))
                        .as(broken)
                        .isInstanceOf(MalformedException.class)
                        .hasMessageContaining("critical");
            }
        }
    }
}
