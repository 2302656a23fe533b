#include "push/push_meter.h"

#include "push/push_int.h"

const struct meter_scale push_meter_run_scale = {.count = 9,
                                                 .bounds = {{10000, "0.01"},
                                                            {100000, "0.1"},
                                                            {500000, "0.5"},
                                                            {1000000, "1"},
                                                            {5000000, "5"},
                                                            {10000000, "10"},
                                                            {30000000, "30"},
                                                            {60000000, "60"},
                                                            {300000000, "300"}}};
const struct meter_scale push_meter_call_scale = {.count = 7,
                                                  .bounds = {{100000, "0.1"},
                                                             {500000, "0.5"},
                                                             {1000000, "1"},
                                                             {5000000, "5"},
                                                             {10000000, "10"},
                                                             {30000000, "30"},
                                                             {60000000, "60"}}};
const struct meter_scale push_meter_delay_scale = {.count = 8,
                                                   .bounds = {{1000, "0.001"},
                                                              {10000, "0.01"},
                                                              {50000, "0.05"},
                                                              {100000, "0.1"},
                                                              {500000, "0.5"},
                                                              {1000000, "1"},
                                                              {5000000, "5"},
                                                              {60000000, "60"}}};
const struct meter_scale push_meter_retry_scale = {.count = 6,
                                                   .bounds = {{0, "0"},
                                                              {1000000, "1"},
                                                              {2000000, "2"},
                                                              {3000000, "3"},
                                                              {5000000, "5"},
                                                              {10000000, "10"}}};

const struct push_meter *push_meter(const struct push_sender *s)
{
    return &s->meter;
}
