package org.cloister.luks.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Metadata becomes a flat map, or is refused for what it is. */
class LuksHeaderFieldsTest {
    @Test
    void each_field_has_one_path_and_text_differs_from_numbers() throws IOException {
        assertThat(LuksHeaderFields.parse(
                                "{\"a\":{\"0\":{\"x\":1,\"y\":\"1\"}},\"b\":[],\"c\":{},\"d\":[\"p\",{\"q\":null}],\"tokens\":{\"0\":[{}]}}")
                        .values())
                .isEqualTo(Map.of(
                        "a.0.x", "1", "a.0.y", "\"1\"", "b", "[]", "c", "{}", "d[0]", "\"p\"", "d[1].q", "null"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\'', textBlock = """
            []                                    | no JSON object
            {"a":1}x                              | no JSON: Unrecognized token
            {"a":1}{}                             | something after the JSON object
            {"a":1,"a":2}                         | no JSON: Duplicate field
            {"a.b":1}                             | a member a.b
            {"A":1}                               | a member A
            {"a":{"b":{"c":{"d":{"e":{"f":1}}}}}} | more than 6 levels at a.b.c.d.e
            {"a":                                 | no JSON: Unexpected end-of-input
            {"a":[[[[[[1]]]]]]}                   | more than 6 levels at a[0][0][0][0][0]
            """)
    void what_is_no_metadata_is_refused(String json, String reason) {
        assertThatThrownBy(() -> LuksHeaderFields.parse(json))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith(reason);
    }

    @Test
    void what_is_longer_than_any_header_is_refused() {
        String many = IntStream.rangeClosed(0, LuksHeaderFields.MAX_FIELDS)
                .mapToObj(i -> "\"" + i + "\":1")
                .collect(Collectors.joining(",", "{", "}"));
        assertThatThrownBy(() -> LuksHeaderFields.parse(many)).hasMessage("more than 1024 fields");
        assertThatThrownBy(() -> LuksHeaderFields.parse("{\"a\":\"" + "x".repeat(300) + "\"}"))
                .hasMessage("a value of 302 characters at a");
        assertThatThrownBy(() -> LuksHeaderFields.parse(" ".repeat(LuksHeaderFields.MAX_TEXT + 1)))
                .hasMessage("more than 524288 characters");
    }
}
