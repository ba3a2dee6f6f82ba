package org.cloister.host.vm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.cloister.protocol.evidence.VmFacts;
import org.junit.jupiter.api.Test;

class VmResourceNamesTest {
    private static final String TICKET = "mfrggzdfmztwq2lknnwg23tpob";
    private static final String PROJECT = "m".repeat(51) + "a";
    private static final String UUID = "0b7c3f5e-9f8a-4a53-8d0e-6a3b9a1d2c4f";

    @Test
    void names_hold_the_beginning_of_the_ticket_and_the_slot() {
        VmResourceNames name = new VmResourceNames(TICKET, 37);
        assertThat(name.domain()).isEqualTo("cloister-mfrggzdfmztwq2lk-37");
        assertThat(name.tap()).isEqualTo("cl-mfrggzdf11");
        assertThat(name.folder(Path.of("/var/lib/cloister/host")))
                .isEqualTo(Path.of("/var/lib/cloister/host/cloister-mfrggzdfmztwq2lk-37"));
        assertThat(VmResourceNames.isDomain(name.domain())).isTrue();
        assertThat(VmResourceNames.isTap(name.tap())).isTrue();
    }

    @Test
    void the_last_slot_still_fits_an_interfaces_name() {
        VmResourceNames last = new VmResourceNames(TICKET, (int) VmFacts.MAX_SLOT);
        assertThat(last.tap()).isEqualTo("cl-mfrggzdf1ekf").hasSize(15);
        assertThat(VmResourceNames.isTap(last.tap())).isTrue();
        assertThatThrownBy(() -> new VmResourceNames(TICKET, (int) VmFacts.MAX_SLOT + 1))
                .hasMessage("slot: want 0 to 65535, have 65536");
    }

    @Test
    void what_others_made_is_not_called_as_ours() {
        assertThat(VmResourceNames.isDomain("cloister-mfrggzdfmztwq2lk-07")).isFalse();
        assertThat(VmResourceNames.isDomain("cloister-mfrggzdfmztwq2lk-1\n")).isFalse();
        assertThat(VmResourceNames.isDomain("cloister-mfrggzdfmztwq2l1-1")).isFalse();
        assertThat(VmResourceNames.isTap("cl-mfrggzdf01")).isFalse();
        assertThat(VmResourceNames.isTap("cl-mfrggzdf")).isFalse();
        assertThat(VmResourceNames.isTap("cl-w1")).isFalse();
    }

    @Test
    void an_owner_has_values_of_their_forms_only() {
        ResourceOwner owner = new ResourceOwner(PROJECT, TICKET, 3, 4711, UUID);
        assertThat(owner.names()).isEqualTo(new VmResourceNames(TICKET, 3));
        assertThatThrownBy(() -> new ResourceOwner("p", TICKET, 3, 4711, UUID))
                .hasMessageStartingWith("project: want ");
        assertThatThrownBy(() -> new ResourceOwner(PROJECT, "../../etc", 3, 4711, UUID))
                .hasMessageStartingWith("ticket: want ");
        assertThatThrownBy(() -> new ResourceOwner(PROJECT, TICKET, 3, 0, UUID))
                .hasMessageStartingWith("globalJob: want 1 ");
        assertThatThrownBy(() -> new ResourceOwner(PROJECT, TICKET, 3, 1, UUID.toUpperCase(java.util.Locale.ROOT)))
                .hasMessageStartingWith("uuid: want ");
    }
}
