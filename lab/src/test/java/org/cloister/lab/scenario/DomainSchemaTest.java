package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.cloister.host.domain.DomainSamples;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.domain.DomainXml;
import org.cloister.lab.Lab;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabHost;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Our domains of all kinds are such as libvirt's own schema allows, by the real libvirtd. */
@Tag("scenario")
@Tag("host")
@Timeout(120)
@ExtendWith(SharedLab.class)
class DomainSchemaTest {
    private static final String OF_THE_SCHEMA = "Unable to validate doc against";

    private final LabHost host;

    DomainSchemaTest(Lab lab) {
        this.host = lab.host(1);
    }

    @Test
    void every_kind_of_domain_is_as_the_schema_allows() throws IOException {
        for (Map.Entry<String, DomainSpec> each : DomainSamples.all().entrySet()) {
            if (each.getKey().equals(DomainSamples.SEV_SNP) && !knowsSevSnp()) {
                assertThat(output(DomainXml.of(each.getValue())))
                        .as("a libvirt whose schema has no sev-snp")
                        .contains(OF_THE_SCHEMA);
            } else {
                assertThat(output(DomainXml.of(each.getValue())))
                        .as(each.getKey())
                        .doesNotContain(OF_THE_SCHEMA);
            }
        }
    }

    @Test
    void the_schema_does_refuse_what_it_does_not_know() throws IOException {
        String xml = DomainXml.of(DomainSamples.sample("worker-tcg"));
        assertThat(output(xml.replace("<nosharepages/>", "<nosharing/>"))).contains(OF_THE_SCHEMA);
        assertThat(output(xml.replace("discard=\"unmap\"", "discards=\"unmap\"")))
                .contains(OF_THE_SCHEMA);
    }

    /** Since libvirt 10.5.0. */
    private boolean knowsSevSnp() throws IOException {
        return host.command("grep", "-q", "sev-snp", "/usr/share/libvirt/schemas/domaincommon.rng")
                        .run()
                        .exit()
                == 0;
    }

    /** Defines it, and forgets it again. */
    private String output(String xml) throws IOException {
        Path file = host.folder("vms").resolve("sample.xml");
        Files.writeString(file, xml);
        LabCommand.Output output = host.command(
                        "virsh", "--quiet", "--connect", host.libvirt().uri(), "define", "--validate", file.toString())
                .run();
        if (output.exit() == 0) {
            host.libvirt().virsh("undefine", DomainSamples.OWNER.names().domain());
        }
        return output.out() + output.err();
    }
}
