package org.cloister.host.domain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.cloister.base.encoding.MalformedException;
import org.junit.jupiter.api.Test;

class DomainXmlReaderTest {
    private static final DomainSpec SPEC = DomainSamples.sample("worker-kvm");
    private static final String OURS = DomainXml.of(SPEC);

    @Test
    void what_we_write_is_read_back() throws MalformedException {
        ObservedDomain view = DomainXmlReader.read(OURS, DomainState.PAUSED).orElseThrow();
        assertThat(view)
                .isEqualTo(new ObservedDomain(
                        DomainSamples.OWNER,
                        DomainState.PAUSED,
                        "cl-mfrggzdf3",
                        SPEC.channel(),
                        SPEC.disks().stream().map(DomainDisk::file).toList()));
        assertThat(view.name()).isEqualTo("cloister-mfrggzdfmztwq2lk-3");
    }

    @Test
    void a_domain_without_our_metadata_is_not_ours_whatever_it_is_called() throws MalformedException {
        String foreign = OURS.replace("https://cloister.internal/host/1", "https://cloister.internal/host/2");
        assertThat(DomainXmlReader.read(foreign, DomainState.RUNNING)).isEmpty();
        String twoCards = foreign.replace("</devices>", "<interface><target dev='x'/></interface></devices>");
        assertThat(DomainXmlReader.read(twoCards, DomainState.RUNNING)).isEmpty();
        String text = foreign.replace("<os>", "<description>" + "x".repeat(9000) + "</description><os>");
        assertThat(DomainXmlReader.read(text, DomainState.RUNNING)).isEmpty();
    }

    @Test
    void our_metadata_elsewhere_in_a_domain_makes_it_not_ours() throws MalformedException {
        String moved = OURS.replace("<metadata>", "<metadata><other>").replace("</metadata>", "</other></metadata>");
        assertThat(DomainXmlReader.read(moved, DomainState.RUNNING)).isEmpty();
    }

    @Test
    void metadata_that_does_not_fit_its_domain_is_an_error() {
        assertRefused(OURS.replace("<name>cloister-", "<name>other-"), "domain's name: want its owner's, ");
        assertRefused(OURS.replaceFirst("<uuid>0b", "<uuid>1b"), "domain's uuid: want its owner's, ");
        assertRefused(OURS.replace("cl-mfrggzdf3", "cl-mfrggzdf4"), "domain's tap: want its owner's, ");
        assertRefused(OURS.replace(":slot>3<", ":slot>03<"), "domain's slot: want a number, have \"03\"");
        assertRefused(OURS.replace(":slot>3<", ":slot>99999<"), "domain: slot: want 0 to 65535, have 99999");
        assertRefused(OURS.replace(":global-job>4711<", ":global-job>0<"), "domain: globalJob: want 1 to ");
        assertRefused(
                OURS.replace("</cloister:vm>", "<cloister:slot>4</cloister:slot></cloister:vm>"),
                "domain: want {https://cloister.internal/host/1}slot once, have it twice");
        assertRefused(
                OURS.replaceFirst("<cloister:uuid>.*</cloister:uuid>", ""),
                "domain: want {https://cloister.internal/host/1}uuid, have none");
        assertRefused(OURS.replace("org.cloister.agent.0", "org.other.0"), "domain: want channel, have none");
    }

    @Test
    void no_text_reaches_outside_of_itself_or_takes_more_than_its_share() {
        assertRefused("<!DOCTYPE domain [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>" + OURS, "domain: want ");
        assertRefused(OURS.replace("<os>", "<os>&x;"), "domain: want ");
        assertRefused("<a>".repeat(40), "/a/a");
        assertRefused(
                "x".repeat(DomainXmlReader.MAX_CHARACTERS + 1), "domain: want at most 262144 characters, have 262145");
    }

    @Test
    void every_beginning_of_a_domain_is_an_error() {
        for (int end = 0; end < OURS.stripTrailing().length(); end++) {
            String prefix = OURS.substring(0, end);
            assertThatThrownBy(() -> DomainXmlReader.read(prefix, DomainState.RUNNING))
                    .isInstanceOf(MalformedException.class);
        }
    }

    @Test
    void capabilities_say_what_a_host_can_protect_with() throws MalformedException {
        String features = "<domainCapabilities><features>%s</features></domainCapabilities>";
        assertThat(SevCapabilitiesReader.read(features.formatted("<sev supported='no'/>")))
                .isEqualTo(SevCapabilities.NONE);
        assertThat(SevCapabilitiesReader.read(features.formatted("<gic supported='yes'/>")))
                .isEqualTo(SevCapabilities.NONE);
        assertThat(SevCapabilitiesReader.read(features.formatted("<sev supported='yes'><cbitpos>47</cbitpos>"
                        + "<maxGuests>59</maxGuests><maxESGuests>0</maxESGuests></sev>")))
                .isEqualTo(new SevCapabilities(MemoryProtection.SEV, false));
        assertThat(SevCapabilitiesReader.read(
                        features.formatted("<sev supported='yes'><maxESGuests>450</maxESGuests></sev>"
                                + "<launchSecurity supported='yes'><enum name='sectype'><value>sev</value>"
                                + "<value>sev-snp</value></enum></launchSecurity>")))
                .isEqualTo(new SevCapabilities(MemoryProtection.SEV_SNP, true));
        assertThatThrownBy(() -> SevCapabilitiesReader.read("<domainCapabilities><features>"))
                .isInstanceOf(MalformedException.class);
    }

    private static void assertRefused(String xml, String message) {
        assertThat(xml).isNotEqualTo(OURS);
        assertThatThrownBy(() -> DomainXmlReader.read(xml, DomainState.RUNNING))
                .isInstanceOf(MalformedException.class)
                .hasMessageStartingWith(message);
    }
}
