package org.cloister.vm.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.cloister.protocol.MalformedException;
import org.cloister.vm.worker.Phase;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AdminTextTest {
    @Test
    void what_the_plugin_writes_is_read() throws Exception {
        assertThat(AdminText.parse("{\"v\":1,\"features\":[0,3]}"))
                .isEqualTo(new AdminText(List.of(0, 3), OptionalInt.empty()));
        assertThat(AdminText.parse("{\"v\":1,\"features\":[]}").features()).isEmpty();
    }

    @Test
    void what_we_write_is_read_again() throws Exception {
        String text = AdminText.of(Samples.entry()
                .with(Map.of(Phase.TEARDOWN, Samples.seconds(0.5), Phase.QUEUE, Samples.seconds(61.002))));
        assertThat(text)
                .isEqualTo("{\"v\":1,\"features\":[],\"ticket\":\"" + Samples.TICKET
                        + "\",\"attempt\":1,\"seconds\":{\"queue\":61.002,\"teardown\":0.500}}");
        assertThat(AdminText.parse(text).attempt()).hasValue(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "hello",
                "{\"v\":2,\"features\":[]}",
                "{\"v\":1,\"features\":[3,0]}",
                "{\"v\":1,\"features\":[0,0]}",
                "{\"v\":1,\"features\":[32]}",
                "{\"v\":1,\"features\":[]} ",
                "{\"v\":1,\"features\":[],\"more\":1}",
                "{\"v\":1,\"features\":[],\"ticket\":\"short\",\"attempt\":1,\"seconds\":{}}"
            })
    void anything_else_is_refused(String text) {
        assertThatThrownBy(() -> AdminText.parse(text)).isInstanceOf(MalformedException.class);
    }

    @Test
    void a_long_text_is_refused_by_its_length() {
        assertThatThrownBy(() -> AdminText.parse("x".repeat(AdminText.MAX_CHARS + 1)))
                .hasMessageContaining("want at most 1024 characters, have 1025");
    }
}
