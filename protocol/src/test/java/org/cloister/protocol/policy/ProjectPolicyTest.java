package org.cloister.protocol.policy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.EnvelopeRefusedException;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProjectPolicyTest {
    private final ProjectPolicy policy = PolicySamples.first();

    @Test
    void what_is_written_is_read_again() throws Exception {
        assertThat(ProjectPolicy.parse(policy.json())).isEqualTo(policy);
    }

    @Test
    void it_takes_the_owners_threshold() throws Exception {
        List<SigningKey> owners = List.of(
                PolicySamples.key(SignatureCurve.P384),
                PolicySamples.key(SignatureCurve.P384),
                PolicySamples.key(SignatureCurve.P384));
        List<VerificationKey> keys =
                owners.stream().map(SigningKey::verificationKey).toList();
        DsseEnvelope one = DsseEnvelope.sign(ProjectPolicy.TYPE, policy.json(), owners.get(0));
        assertThatThrownBy(() -> ProjectPolicy.open(one, keys, 2)).isInstanceOf(EnvelopeRefusedException.class);
        assertThat(ProjectPolicy.open(one.countersign(owners.get(2)), keys, 2)).isEqualTo(policy);
    }

    @Test
    void every_member_counts() {
        String json = new String(policy.json(), UTF_8);
        for (String member : new String[] {
            "format",
            "project",
            "serial",
            "from",
            "until",
            "level",
            "hosts",
            "name",
            "key",
            "images",
            "identity",
            "limits",
            "controller",
            "worker",
            "cpus",
            "memoryMib",
            "scratchMib",
            "sharing",
            "workerEncryption",
            "releases"
        }) {
            String name = "\"" + member + "\":";
            assertThat(json).contains(name);
            for (String other : new String[] {"\"x" + member + "\":", name + "null,\"x\":", name + "[],\"x\":"}) {
                String broken = json.replace(name, other);
                assertThatThrownBy(() -> ProjectPolicy.parse(broken.getBytes(UTF_8)))
                        .as(other)
                        .isInstanceOf(MalformedException.class);
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"serial\":7|\"serial\":0|serial: want an integer from 1",
                "\"serial\":7|\"serial\":9007199254740993|serial: want",
                "\"level\":0|\"level\":3|level: want an integer from 0 to 2",
                "\"level\":0|\"level\":\"0\"|level: want",
                "\"until\":\"2026-08-30|\"until\":\"2026-06-01|until: want a time after from",
                "\"until\":\"2026-08-30|\"until\":\"2028-08-30|within 366 days",
                "\"until\":\"2026-06-08|\"until\":\"2026-07-08|images: want",
                "\"until\":\"2026-06-08|\"until\":\"2026-06-01|images: want",
                ",\"until\":\"2026-06-08T12:00:00Z\"||images: want one without until, have 2",
                "node18|node17|hosts: want every name and every key once",
                "\"releases\":1000|\"releases\":0|releases: want",
                "\"releases\":1000|\"releases\":1000001|releases: want",
                "\"sharing\":\"none\"|\"sharing\":\"None\"|sharing: want none|project|any",
                "\"required\"|true|workerEncryption: want a string",
                "aaaaaaaaaa\"|aaaaaaaaab\"|project: want",
            })
    void refuses(String whole, String broken, String reason) {
        String json = new String(policy.json(), UTF_8);
        assertThat(json).contains(whole);
        String other = json.replace(whole, broken == null ? "" : broken);
        assertThatThrownBy(() -> ProjectPolicy.parse(other.getBytes(UTF_8)))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void as_many_hosts_as_may_be_fit() throws Exception {
        ProjectPolicy most = PolicySamples.withHosts(ProjectPolicy.MAX_HOSTS);
        assertThat(most.json().length).isLessThanOrEqualTo(ProjectPolicy.MAX_BYTES);
    }

    @Test
    void what_it_loosens_is_named_by_known_words_once() {
        String json = new String(policy.json(), UTF_8);
        for (String list : new String[] {"[\"level\",\"level\"]", "[\"images\"]", "[]", "\"level\""}) {
            String other = json.replaceFirst("\\{", "{\"loosens\":" + list + ",");
            assertThatThrownBy(() -> ProjectPolicy.parse(other.getBytes(UTF_8)))
                    .isInstanceOf(MalformedException.class)
                    .hasMessageContaining("loosens");
        }
    }
}
