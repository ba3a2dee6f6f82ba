package org.cloister.ctl.bridge;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class BridgeOptionsTest {
    @Test
    void open_vswitch_has_the_time_that_it_takes_on_a_busy_machine() {
        BridgeOptions options = CommandLine.populateCommand(new BridgeOptions(), "--uplink", "eth1");
        assertThat(options.config().deadline()).hasMinutes(2);
        assertThat(options.config().uplink()).isEqualTo("eth1");
    }
}
